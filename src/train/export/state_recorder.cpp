// Records states and decisions of a controller, and checks exported networks in these states.
#include "export/state_recorder.h"

#include <torch/csrc/jit/serialization/import.h>
#include <torch/types.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "export/policy_table.h"
#include "policy/commands.h"
#include "policy/perception.h"
#include "traffic/core/error.h"
#include "traffic/scene/frame.h"
#include "traffic/scene/signal_features.h"

namespace traffic::train {
namespace {

using nlohmann::ordered_json;

torch::Tensor int_tensor(const std::vector<std::int64_t>& values) {
  return torch::tensor(values, torch::kLong);
}

/// A copy of rows of floats as a tensor.
torch::Tensor float_rows(std::span<const float> values, std::size_t columns) {
  return torch::tensor(std::vector<float>(values.begin(), values.end()))
      .view({-1, static_cast<std::int64_t>(columns)});
}

/// Features as a dictionary by name.
template <typename Spec>
ordered_json features_json(std::span<const Spec> specs, std::span<const float> values) {
  ordered_json features;
  for (std::size_t i = 0; i < specs.size(); ++i) {
    features[std::string(specs[i].name)] = short_number(values[i]);
  }
  return features;
}

/// Rows of scaled features in physical units.
std::vector<float> unscaled(std::span<const scene::SignalFeatureSpec> specs,
                            std::span<const float> scaled) {
  std::vector<float> values;
  for (std::size_t i = 0; i < scaled.size(); ++i) {
    const double value = specs[i % specs.size()].unscaled(static_cast<double>(scaled[i]));
    values.push_back(static_cast<float>(value));
  }
  return values;
}

ordered_json numbers_json(const torch::Tensor& values) {
  ordered_json numbers = ordered_json::array();
  const torch::Tensor flat = values.contiguous().view(-1);
  const std::span all(flat.const_data_ptr<float>(), static_cast<std::size_t>(flat.numel()));
  for (const float value : all) numbers.push_back(short_number(value));
  return numbers;
}

ordered_json rows_json(const torch::Tensor& values) {
  ordered_json rows = ordered_json::array();
  for (std::int64_t row = 0; row < values.size(0); ++row) {
    rows.push_back(numbers_json(values[row]));
  }
  return rows;
}

/// The edges of a graph, sorted by target.
struct Edges {
  std::vector<std::int64_t> source;
  std::vector<std::int64_t> target;

  Edges(std::span<const std::int32_t> ptr, std::span<const std::int32_t> src)
      : source(src.begin(), src.end()) {
    for (std::size_t node = 0; node + 1 < ptr.size(); ++node) {
      target.insert(target.end(), static_cast<std::size_t>(ptr[node + 1] - ptr[node]),
                    static_cast<std::int64_t>(node));
    }
  }
};

template <typename Spec, typename Name>
ordered_json pairs_json(const Edges& edges, std::span<const Spec> specs,
                        std::span<const float> features, const Name& name) {
  ordered_json pairs = ordered_json::array();
  for (std::size_t e = 0; e < edges.source.size(); ++e) {
    pairs.push_back(
        {{"of", name(edges.target[e])},
         {"neighbour", name(edges.source[e])},
         {"features", features_json(specs, features.subspan(e * specs.size(), specs.size()))}});
  }
  return pairs;
}

/// Outputs of this program's own network for the candidates.
std::map<std::string, torch::Tensor> native_outputs(const VehicleMoment& moment) {
  const torch::NoGradGuard no_grad;
  Policy& policy = moment.decider.policy();
  const Observation& seen = moment.seen;
  const model::ControllerOutput out =
      policy.controller()->forward({.own = seen.own,
                                    .shared = seen.shared,
                                    .state = torch::zeros({seen.own.size(0)}, torch::kLong)});
  std::map<std::string, torch::Tensor> outputs{
      {"score", out.score}, {"command", policy.leaning(out.longitudinal, seen.own)}};
  if (out.lane.defined()) outputs.emplace("lane", out.lane);
  return outputs;
}

}  // namespace

StateRecorder::StateRecorder(const std::filesystem::path& folder, const sim::SumoEnv& env,
                             std::int64_t states, const config::Config& config)
    : env_(env),
      states_(states),
      sees_all_vehicles_(InputGroups(config.vehicles.inputs).any_encoding()),
      commands_(commands_of(config.vehicles)),
      command_names_(config.vehicles.commands),
      has_advisor_(!config.vehicles.advisor.empty()),
      memory_width_(config.model.lstm_layers * config.model.lstm_hidden),
      hidden_width_(config.model.lstm_hidden),
      vehicles_(load(folder / "vehicles.pt")),
      memory_(load(folder / "vehicle_memory.pt")),
      lights_(load(folder / "lights.pt")) {}

StateRecorder::Agent StateRecorder::load(const std::filesystem::path& file) {
  if (!std::filesystem::exists(file)) return {};
  return {.module = torch::jit::load(file.string(), torch::kCPU)};
}

bool StateRecorder::is_full() const {
  return std::ranges::none_of(std::array{&vehicles_, &lights_},
                              [this](const Agent* agent) { return wants(*agent); });
}

StateRecorder::Tensors StateRecorder::run(torch::jit::Module& module, const Tensors& inputs) {
  const torch::NoGradGuard no_grad;
  std::vector<torch::jit::IValue> arguments;
  const auto method = module.get_method("forward");
  for (const auto& argument : method.function().getSchema().arguments()) {
    if (argument.name() != "self") arguments.emplace_back(inputs.at(argument.name()));
  }
  Tensors outputs;
  for (const auto& entry : method(std::move(arguments)).toGenericDict()) {
    outputs.emplace(entry.key().toStringRef(), entry.value().toTensor());
  }
  return outputs;
}

void StateRecorder::compare(Agent& agent, const Tensors& inputs, const Tensors& native,
                            const torch::Tensor& rows) {
  const Tensors outputs = run(*agent.module, inputs);
  for (const auto& [name, wanted] : native) {
    torch::Tensor found = outputs.at(name);
    if (rows.defined()) found = found.index_select(0, rows);
    const torch::Tensor difference = (found - wanted).abs() / wanted.abs().clamp_min(1.0);
    result_.largest_difference =
        std::max(result_.largest_difference, difference.max().item<double>());
  }
  ++agent.states;
  ++result_.states;
}

StateRecorder::Tensors StateRecorder::inputs_of(const scene::FrameView& frame) {
  const Edges edges(frame.edge_ptr, frame.edge_src);
  const std::array<const scene::FrameView*, 1> frames{&frame};
  return {{"vehicles", float_rows(frame.node_features, scene::node_features().size())},
          {"globals", float_rows(frame.global_features, frame.global_features.size())},
          {"connected", int_tensor(find_connected(frames).node)},
          {"edge_source", int_tensor(edges.source)},
          {"edge_target", int_tensor(edges.target)},
          {"edge_features", float_rows(frame.edge_features, scene::edge_features().size())}};
}

void StateRecorder::remember(const scene::FrameView& frame) {
  Tensors inputs = inputs_of(frame);
  const std::array<const scene::FrameView*, 1> frames{&frame};
  const std::vector<std::uint32_t> ids = find_connected(frames).id;
  std::vector<torch::Tensor> hidden{torch::zeros({0, memory_width_})};
  std::vector<torch::Tensor> cell = hidden;
  for (const std::uint32_t id : ids) {
    const auto known = remembered_.find(id);
    const bool is_new = known == remembered_.end();
    hidden.push_back(is_new ? torch::zeros({1, memory_width_}) : known->second.hidden);
    cell.push_back(is_new ? torch::zeros({1, memory_width_}) : known->second.cell);
  }
  inputs.emplace("hidden", torch::cat(hidden));
  inputs.emplace("cell", torch::cat(cell));
  const Tensors outputs = run(*memory_.module, inputs);
  remembered_.clear();
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const auto row = static_cast<std::int64_t>(i);
    remembered_[ids[i]] = {.hidden = outputs.at("next_hidden").narrow(0, row, 1),
                           .cell = outputs.at("next_cell").narrow(0, row, 1)};
  }
  memory_rows_ = outputs.at("next_hidden").narrow(1, memory_width_ - hidden_width_, hidden_width_);
}

ordered_json StateRecorder::frame_json(const scene::FrameView& frame, const VehicleChoices& choices,
                                       bool all) const {
  const std::size_t columns = scene::node_features().size();
  const auto name = [&](std::int64_t node) {
    return env_.name_of(frame.vehicle_id[static_cast<std::size_t>(node)]);
  };
  ordered_json vehicles = ordered_json::array();
  std::size_t next = 0;
  for (std::int64_t node = 0; node < frame.num_nodes(); ++node) {
    const bool is_candidate = next < choices.node.size() && choices.node[next] == node;
    if (!is_candidate && !all) continue;
    ordered_json vehicle = {{"id", name(node)}, {"candidate", is_candidate}};
    if (is_candidate && !choices.advised.empty()) {
      vehicle["advised"] = command_names_[choices.advised[next]];
    }
    if (is_candidate) ++next;
    vehicle["features"] = features_json(
        scene::node_features(),
        frame.node_features.subspan(static_cast<std::size_t>(node) * columns, columns));
    vehicles.push_back(std::move(vehicle));
  }
  ordered_json json = {{"vehicles", std::move(vehicles)}};
  if (all) {
    json["pairs"] = pairs_json(Edges(frame.edge_ptr, frame.edge_src), scene::edge_features(),
                               frame.edge_features, name);
  }
  return json;
}

void StateRecorder::on_vehicles(const VehicleMoment& moment) {
  if (!wants(vehicles_)) return;
  const auto& section = moment.period.of<rollout::VehicleSection>();
  ordered_json frames = ordered_json::array();
  if (memory_.module) {
    for (const scene::FrameView& frame : section.frames) {
      remember(frame);
      frames.push_back(frame_json(frame, {}, /*all=*/true));
    }
  } else if (section.candidates.empty()) {
    return;
  }
  const scene::FrameView& frame = section.frames.back();
  VehicleChoices choices;
  for (const scene::Candidate& candidate : section.candidates) {
    choices.node.push_back(candidate.node);
  }
  if (has_advisor_) find_advised(moment.period, commands_, choices.advised);

  ordered_json outputs = ordered_json::object();
  if (!choices.node.empty()) {
    const Tensors native = native_outputs(moment);
    Tensors inputs = inputs_of(frame);
    inputs.emplace("candidates", int_tensor(choices.node));
    inputs.emplace("advised", int_tensor({choices.advised.begin(), choices.advised.end()}));
    if (memory_.module) {
      inputs.emplace("memory", memory_rows_);
      inputs.emplace("place", torch::searchsorted(inputs.at("connected"), inputs.at("candidates")));
    }
    compare(vehicles_, inputs, native);
    result_.decisions += static_cast<std::int64_t>(choices.node.size());
    outputs["score"] = numbers_json(native.at("score"));
    for (const char* name : {"command", "lane"}) {
      if (native.contains(name)) outputs[name] = rows_json(native.at(name));
    }
  }

  ordered_json state = frame_json(frame, choices, sees_all_vehicles_);
  state["under_command"] = moment.decider.policy().top_k() - moment.decider.may_pick(moment.period);
  state["globals"] = features_json(scene::global_features(), frame.global_features);
  if (memory_.module) state["frames"] = std::move(frames);
  ordered_json commands = ordered_json::array();
  for (const auto& command : moment.decided.commands) {
    if (!command) continue;
    commands.push_back({{"vehicle", env_.name_of(command->vehicle_id)},
                        {"longitudinal", scene::name_of(command->longitudinal)},
                        {"lane_change", static_cast<int>(command->lane_change)},
                        {"value", command->value},
                        {"hold_s", command->hold_s}});
  }
  add_line("vehicles", std::move(state), std::move(outputs), std::move(commands));
}

void StateRecorder::add_line(const char* agent, ordered_json state, ordered_json outputs,
                             ordered_json decision) {
  const ordered_json line = {{"agent", agent},
                             {"time_s", env_.time_s()},
                             {"state", std::move(state)},
                             {"outputs", std::move(outputs)},
                             {"decision", std::move(decision)}};
  lines_ += line.dump();
  lines_ += '\n';
}

void StateRecorder::on_lights(const LightMoment& moment) {
  if (!wants(lights_)) return;
  const auto specs = scene::signal_feature_specs();
  const bool sees_all = moment.policy.looks_around();
  std::vector<std::int64_t> of_option;  // light of each option
  std::vector<std::int64_t> compared;   // rows of options of lights that choose
  std::vector<std::string> names;
  std::vector<float> options;
  ordered_json lights = ordered_json::array();
  std::size_t choice = 0;
  std::size_t choice_row = 0;
  for (int light = 0; light < moment.view.book().num_lights(); ++light) {
    const bool chooses = choice < moment.choices.size() && moment.choices[choice].light == light;
    if (!chooses && !sees_all) continue;
    std::vector<float> rows;
    if (chooses) {
      const auto numbers =
          static_cast<std::size_t>(moment.choices[choice++].num_greens) * specs.size();
      const auto own = moment.rows.subspan(choice_row, numbers);
      rows.assign(own.begin(), own.end());
      choice_row += numbers;
    } else {
      moment.view.append_features(light, rows);
    }
    rows = unscaled(specs, rows);
    const auto index = static_cast<std::int64_t>(names.size());
    names.push_back(moment.view.road().lights[static_cast<std::size_t>(light)]);
    ordered_json list = ordered_json::array();
    for (std::size_t first = 0; first < rows.size(); first += specs.size()) {
      if (chooses) compared.push_back(static_cast<std::int64_t>(of_option.size()));
      of_option.push_back(index);
      list.push_back(
          features_json(specs, std::span<const float>(rows).subspan(first, specs.size())));
    }
    options.insert(options.end(), rows.begin(), rows.end());
    lights.push_back({{"id", names.back()}, {"may_switch", chooses}, {"options", std::move(list)}});
  }
  const auto edge_specs = scene::signal_edge_feature_specs();
  const Edges edges(moment.graph.edge_ptr, moment.graph.edge_src);
  const std::vector<float> edge_rows = unscaled(edge_specs, moment.graph.edge_features);

  const torch::NoGradGuard no_grad;
  const torch::Tensor probability =
      moment.batch.lights.log_softmax(moment.policy.forward(moment.batch).logits).exp();
  compare(lights_,
          {{"options", float_rows(options, specs.size())},
           {"light", int_tensor(of_option)},
           {"lights", int_tensor({static_cast<std::int64_t>(names.size())})},
           {"edge_source", int_tensor(edges.source)},
           {"edge_target", int_tensor(edges.target)},
           {"edge_features", float_rows(edge_rows, edge_specs.size())}},
          {{"probability", probability}}, int_tensor(compared));
  result_.decisions += static_cast<std::int64_t>(moment.choices.size());

  const auto name = [&](std::int64_t light) { return names[static_cast<std::size_t>(light)]; };
  ordered_json state = {{"lights", std::move(lights)}};
  if (sees_all)
    state["pairs"] = pairs_json(edges, edge_specs, std::span<const float>(edge_rows), name);
  ordered_json decision;
  for (std::size_t b = 0; b < moment.choices.size(); ++b) {
    const auto light = static_cast<std::size_t>(moment.choices[b].light);
    decision[moment.view.road().lights[light]] = moment.decided.green[b];
  }
  add_line("lights", std::move(state), {{"probability", numbers_json(probability)}},
           std::move(decision));
}

}  // namespace traffic::train
