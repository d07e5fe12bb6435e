// The networks of policies in plain operations. The layers are those of src/model, in the same
// order.
#include "export/networks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>
#include <unordered_map>
#include <vector>

#include "policy/perception.h"
#include "traffic/core/error.h"
#include "traffic/scene/frame.h"
#include "traffic/scene/signal_features.h"

namespace traffic::train {
namespace {

constexpr double kNormEpsilon = 1e-5;
constexpr float kNoCap = 1e30F;  // stands for infinity, which some evaluators treat as an error

torch::Tensor row_of(const std::vector<float>& values) {
  return torch::tensor(values, torch::kFloat).unsqueeze(0);
}

/// Adds parameters to a network by their names in checkpoints.
class Layers {
 public:
  Layers(PlainNetwork& network, const comm::NamedTensors& parameters) : network_(network) {
    for (const auto& [name, value] : parameters) parameters_.emplace(name, value);
  }

  [[nodiscard]] const torch::Tensor& tensor(const std::string& name) const {
    return parameters_.at(name);
  }
  [[nodiscard]] bool has(const std::string& layer) const {
    return parameters_.contains(layer + ".weight");
  }
  PlainValue parameter(const std::string& name) { return network_.constant(name, tensor(name)); }
  PlainValue linear(const PlainValue& x, const std::string& layer) {
    const PlainValue weight = parameter(layer + ".weight");
    if (!parameters_.contains(layer + ".bias")) return network_.linear(x, weight);
    const PlainValue bias = parameter(layer + ".bias");
    return network_.linear(x, weight, &bias);
  }
  PlainValue norm(const PlainValue& x, const std::string& layer) {
    return network_.layer_norm(x, parameter(layer + ".weight"), parameter(layer + ".bias"),
                               kNormEpsilon);
  }

 private:
  PlainNetwork& network_;
  std::unordered_map<std::string, torch::Tensor> parameters_;
};

/// A graph as input of an encoder. Its edges have scaled features.
struct PlainGraph {
  PlainValue nodes;
  PlainValue source;
  PlainValue target;
  PlainValue edges;
};

PlainGraph edge_inputs(PlainNetwork& network) {
  PlainGraph graph;
  graph.source = network.input({"edge_source", PlainType::kInt, {"edges"}});
  graph.target = network.input({"edge_target", PlainType::kInt, {"edges"}});
  graph.edges = network.input({"edge_features", PlainType::kFloat, {"edges", "4"}});
  return graph;
}

/// x * Phi(x), where Phi is the distribution function of the normal distribution.
PlainValue gelu(PlainNetwork& network, const PlainValue& x, const PlainValue& root_half,
                const PlainValue& one, const PlainValue& half) {
  const PlainValue erf = network.erf(network.multiply(x, root_half));
  return network.multiply(network.multiply(x, half), network.add(erf, one));
}

/// model::GraphEncoder.
/// @param prefix name of the encoder among the parameters
/// @return an encoding of each node
PlainValue encode(PlainNetwork& network, Layers& layers, const PlainGraph& graph,
                  const std::string& prefix) {
  const auto scalar = [&](const std::string& name, double value) {
    return network.constant(prefix + "." + name, torch::full({1}, value, torch::kFloat));
  };
  const std::string first = prefix + ".layers.0.";
  const std::int64_t width = layers.tensor(prefix + ".input.weight").size(0);
  PlainValue h = layers.norm(layers.linear(graph.nodes, prefix + ".input"), prefix + ".norm");
  if (!layers.has(first + "qkv")) return h;
  const std::int64_t heads = layers.tensor(first + "risk_out.weight").size(0);
  // A matrix with a 1 where a column belongs to a head: sums and repeats columns by head.
  const torch::Tensor by_head = torch::eye(heads).repeat_interleave(width / heads, 1);
  const PlainValue sum_heads = network.constant(prefix + ".sum_heads", by_head);
  const PlainValue repeat_heads = network.constant(prefix + ".repeat_heads", by_head.t());
  const PlainValue root = scalar("root", std::sqrt(static_cast<double>(width / heads)));
  const PlainValue root_half = scalar("root_half", std::numbers::sqrt2 / 2);
  const PlainValue one = scalar("one", 1.0);
  const PlainValue half = scalar("half", 0.5);
  const PlainValue nodes = network.count_rows(graph.nodes);
  for (int l = 0; layers.has(fmt::format("{}.layers.{}.qkv", prefix, l)); ++l) {
    const std::string layer = fmt::format("{}.layers.{}.", prefix, l);
    const PlainValue qkv = layers.linear(h, layer + "qkv");
    const PlainValue query = network.divide(network.columns(qkv, 0, width), root);
    const PlainValue shift = layers.linear(graph.edges, layer + "edge");
    const PlainValue risk = layers.linear(
        network.relu(layers.linear(graph.edges, layer + "risk_in")), layer + "risk_out");
    const PlainValue key =
        network.add(network.rows(network.columns(qkv, width, width), graph.source), shift);
    const PlainValue match = network.multiply(network.rows(query, graph.target), key);
    const PlainValue score = network.add(network.linear(match, sum_heads), risk);
    const PlainValue highest = network.max_groups(score, graph.target, nodes);
    const PlainValue weight =
        network.exp(network.subtract(score, network.rows(highest, graph.target)));
    const PlainValue total = network.sum_groups(weight, graph.target, nodes);
    const PlainValue share = network.divide(weight, network.rows(total, graph.target));
    const PlainValue value =
        network.add(network.rows(network.columns(qkv, 2 * width, width), graph.source), shift);
    const PlainValue attended = network.sum_groups(
        network.multiply(network.linear(share, repeat_heads), value), graph.target, nodes);
    const PlainValue normed =
        layers.norm(network.add(h, layers.linear(attended, layer + "out")), layer + "norm1");
    const PlainValue inner =
        gelu(network, layers.linear(normed, layer + "up"), root_half, one, half);
    h = layers.norm(network.add(normed, layers.linear(inner, layer + "down")), layer + "norm2");
  }
  return h;
}

/// (value - offset) / scale of each column.
PlainValue scaled(PlainNetwork& network, const PlainValue& x, const std::string& name,
                  std::span<const scene::FeatureSpec> features) {
  std::vector<float> offset;
  std::vector<float> scale;
  for (const scene::FeatureSpec& feature : features) {
    offset.push_back(feature.offset);
    scale.push_back(feature.scale);
  }
  return network.divide(network.subtract(x, network.constant(name + ".offset", row_of(offset))),
                        network.constant(name + ".scale", row_of(scale)));
}

/// SignalFeatureSpec::scaled() of each column.
PlainValue scaled(PlainNetwork& network, const PlainValue& x, const std::string& name,
                  std::span<const scene::SignalFeatureSpec> features) {
  std::vector<float> cap;
  std::vector<float> scale;
  std::vector<float> logarithmic;
  for (const scene::SignalFeatureSpec& feature : features) {
    cap.push_back(std::min(static_cast<float>(feature.cap), kNoCap));
    scale.push_back(static_cast<float>(feature.scale));
    logarithmic.push_back(feature.is_logarithmic ? 1.0F : 0.0F);
  }
  const torch::Tensor is_log = row_of(logarithmic);
  const PlainValue zero = network.constant(name + ".zero", torch::zeros({1}));
  const PlainValue one = network.constant(name + ".one", torch::ones({1}));
  const PlainValue capped = network.minimum(x, network.constant(name + ".cap", row_of(cap)));
  const PlainValue log = network.log(network.add(network.maximum(capped, zero), one));
  const PlainValue value =
      network.add(network.multiply(log, network.constant(name + ".is_log", is_log)),
                  network.multiply(capped, network.constant(name + ".is_linear", 1.0 - is_log)));
  return network.divide(value, network.constant(name + ".scale", row_of(scale)));
}

/// Scaled features of the vehicles, an input.
PlainValue vehicle_input(PlainNetwork& network) {
  const auto features = scene::node_features();
  return scaled(
      network,
      network.input({"vehicles", PlainType::kFloat, {"vehicles", std::to_string(features.size())}}),
      "vehicle_features", features);
}

/// Encodings of all vehicles.
PlainValue encode_vehicles(PlainNetwork& network, Layers& layers, const PlainValue& vehicles) {
  PlainGraph graph = edge_inputs(network);
  graph.nodes = vehicles;
  graph.edges = scaled(network, graph.edges, "pair_features", scene::edge_features());
  return encode(network, layers, graph, "encoder");
}

}  // namespace

PlainNetwork memory_network(const config::Config& config, const comm::NamedTensors& parameters) {
  PlainNetwork network;
  Layers layers(network, parameters);
  const std::int64_t width = config.model.lstm_hidden;
  const std::vector<std::string> shape{"connected",
                                       std::to_string(config.model.lstm_layers * width)};
  const PlainValue encoding = encode_vehicles(network, layers, vehicle_input(network));
  const PlainValue connected = network.input({"connected", PlainType::kInt, {"connected"}});
  const PlainValue hidden = network.input({"hidden", PlainType::kFloat, shape});
  const PlainValue cell = network.input({"cell", PlainType::kFloat, shape});
  PlainValue x = network.rows(encoding, connected);
  std::vector<PlainValue> hiddens;
  std::vector<PlainValue> cells;
  for (std::int64_t l = 0; l < config.model.lstm_layers; ++l) {
    const auto product = [&](const PlainValue& of, const char* side) {
      const auto parameter = [&](const char* kind) {
        return layers.parameter(fmt::format("world_model.lstm.{}_{}_l{}", kind, side, l));
      };
      const PlainValue bias = parameter("bias");
      return network.linear(of, parameter("weight"), &bias);
    };
    const PlainValue sum =
        network.add(product(x, "ih"), product(network.columns(hidden, l * width, width), "hh"));
    const auto gate = [&](std::int64_t index) {
      return network.columns(sum, index * width, width);
    };
    const PlainValue kept =
        network.multiply(network.sigmoid(gate(1)), network.columns(cell, l * width, width));
    cells.push_back(
        network.add(kept, network.multiply(network.sigmoid(gate(0)), network.tanh(gate(2)))));
    x = network.multiply(network.sigmoid(gate(3)), network.tanh(cells.back()));
    hiddens.push_back(x);
  }
  network.output(network.join_columns(hiddens), {"next_hidden", PlainType::kFloat, shape});
  network.output(network.join_columns(cells), {"next_cell", PlainType::kFloat, shape});
  return network;
}

PlainNetwork vehicle_network(const config::Config& config, const comm::NamedTensors& parameters,
                             double advice_margin) {
  const InputGroups groups(config.vehicles.inputs);
  PlainNetwork network;
  Layers layers(network, parameters);
  const auto commands = static_cast<std::int64_t>(config.vehicles.commands.size());
  const bool advised = !config.vehicles.advisor.empty();
  const PlainValue vehicles = vehicle_input(network);
  const PlainValue candidates = network.input({"candidates", PlainType::kInt, {"candidates"}});
  std::vector<PlainValue> own;
  std::vector<PlainValue> shared;
  if (groups.features) own.push_back(network.rows(vehicles, candidates));
  if (groups.globals) {
    const auto globals = scene::global_features();
    shared.push_back(
        scaled(network,
               network.input({"globals", PlainType::kFloat, {"1", std::to_string(globals.size())}}),
               "global_features", globals));
  }
  PlainValue advice;
  if (advised) {
    const PlainValue index = network.input({"advised", PlainType::kInt, {"candidates"}});
    advice = network.rows(network.constant("one_command", torch::eye(commands)), index);
  }
  if (groups.encoding || groups.pooled) {
    const PlainValue encoding = encode_vehicles(network, layers, vehicles);
    if (groups.encoding) own.push_back(network.rows(encoding, candidates));
    if (groups.pooled) {
      const PlainValue connected = network.input({"connected", PlainType::kInt, {"connected"}});
      shared.push_back(network.mean_of_rows(network.rows(encoding, connected)));
    }
  }
  if (advised) own.push_back(advice);
  PlainValue latents;
  if (groups.latents) {
    const PlainValue memory = network.input(
        {"memory", PlainType::kFloat, {"connected", std::to_string(config.model.lstm_hidden)}});
    const PlainValue place = network.input({"place", PlainType::kInt, {"candidates"}});
    const PlainValue hidden = network.rows(memory, place);
    latents = network.join_columns(
        {layers.linear(hidden, "world_model.z_flow"), layers.linear(hidden, "world_model.z_risk")});
    own.push_back(latents);
  }

  PlainValue x;
  if (!own.empty()) x = layers.linear(network.join_columns(own), "controller.own");
  if (!shared.empty()) {
    const PlainValue common = layers.linear(network.join_columns(shared), "controller.shared");
    // The same row for every candidate.
    const PlainValue zero = network.constant("zero_index", torch::zeros({1}, torch::kLong));
    const PlainValue repeated = network.rows(common, network.multiply(candidates, zero));
    x = own.empty() ? repeated : network.add(x, common);
  }
  x = network.tanh(x);
  for (std::int64_t i = 1; i < config.vehicles.layers; ++i) {
    x = network.tanh(layers.linear(x, fmt::format("controller.hidden{}", i)));
  }
  PlainValue command = layers.linear(x, "controller.longitudinal");
  if (advised) command = network.add(command, layers.linear(advice, "controller.advice"));
  PlainValue score = layers.linear(x, "controller.importance");
  const bool categorical = config.vehicles.longitudinal == "categorical";
  if (categorical) {
    const PlainValue odds =
        network.subtract(network.log_sum_exp(network.columns(command, 1, commands - 1)),
                         network.columns(command, 0, 1));
    score = network.add(score, odds);
  }
  score = network.multiply(
      score, network.constant("importance_weight",
                              torch::full({1}, config.vehicles.importance_weight, torch::kFloat)));
  if (groups.latents) {
    const PlainValue weight = network.constant(
        "impact_weight", torch::full({1}, config.vehicles.impact_weight, torch::kFloat));
    score =
        network.add(score, network.multiply(layers.linear(latents, "controller.impact"), weight));
  }
  if (advice_margin > 0.0) {
    command = network.add(
        command,
        network.multiply(advice, network.constant("advice_margin",
                                                  torch::full({1}, advice_margin, torch::kFloat))));
  }
  network.output(network.flat(score), {"score", PlainType::kFloat, {"candidates"}});
  network.output(
      command,
      {"command", PlainType::kFloat, {"candidates", std::to_string(categorical ? commands : 1)}});
  if (config.vehicles.lane_change) {
    network.output(layers.linear(x, "controller.lane"),
                   {"lane", PlainType::kFloat, {"candidates", "3"}});
  }
  return network;
}

PlainNetwork light_network(const LightPolicy& policy) {
  PlainNetwork network;
  Layers layers(network, policy.parameters());
  const auto features = scene::signal_feature_specs();
  const auto columns = static_cast<std::int64_t>(features.size());
  const PlainValue options = scaled(
      network, network.input({"options", PlainType::kFloat, {"options", std::to_string(columns)}}),
      "option_features", features);
  const PlainValue light = network.input({"light", PlainType::kInt, {"options"}});
  const PlainValue lights = network.input({"lights", PlainType::kInt, {"1"}});
  const auto column_of = [&](std::string_view name) {
    return std::ranges::find(features, name, &scene::SignalFeatureSpec::name) - features.begin();
  };
  const PlainValue is_present = network.columns(options, column_of("is_present"), 1);
  const PlainValue one = network.constant("one", torch::ones({1, 1}));
  const PlainValue each = network.sum_groups(
      network.add(network.multiply(is_present, network.constant("nothing", torch::zeros({1, 1}))),
                  one),
      light, lights);
  const PlainValue count = network.maximum(each, one);  // a light may have no option
  const auto mean = [&](const PlainValue& x) {
    return network.divide(network.sum_groups(x, light, lights), count);
  };
  const auto present = [&](const PlainValue& x) {
    return network.sum_groups(network.multiply(x, is_present), light, lights);
  };
  PlainValue first = layers.linear(options, "lights.first");
  if (policy.looks_around()) {
    PlainGraph graph = edge_inputs(network);
    graph.edges = scaled(network, graph.edges, "edge_features", scene::signal_edge_feature_specs());
    // The nodes of the graph of lights know no advice.
    torch::Tensor not_advice = torch::ones({1, columns});
    not_advice[0][column_of("advised")] = 0.0;
    const PlainValue seen = network.multiply(options, network.constant("not_advice", not_advice));
    graph.nodes = network.join_columns({mean(seen), present(seen)});
    const PlainValue encoding = encode(network, layers, graph, "lights.encoder");
    first = network.add(first, network.rows(layers.linear(encoding, "lights.around"), light));
  }
  const PlainValue greens = network.tanh(layers.linear(network.tanh(first), "lights.second"));
  const PlainValue beside =
      network.rows(network.join_columns({mean(greens), present(greens)}), light);
  const PlainValue choice =
      network.tanh(layers.linear(network.join_columns({greens, beside}), "lights.choice"));
  const PlainValue logit =
      network.add(layers.linear(choice, "lights.logit"), layers.linear(options, "lights.rule"));
  const PlainValue highest = network.rows(network.max_groups(logit, light, lights), light);
  const PlainValue weight = network.exp(network.subtract(logit, highest));
  const PlainValue total = network.rows(network.sum_groups(weight, light, lights), light);
  network.output(network.flat(network.divide(weight, total)),
                 {"probability", PlainType::kFloat, {"options"}});
  return network;
}

}  // namespace traffic::train
