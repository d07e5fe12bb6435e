#include "policy/light_policy.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "policy/frames.h"
#include "traffic/core/error.h"
#include "traffic/rl/log_softmax.h"
#include "traffic/scene/signal_view.h"

namespace traffic::train {
namespace {

/// Log-probabilities of the greens of each light, [R], without gradient. Plain loops avoid the
/// overhead of tensor operations, which would dominate for the few dozen greens of one moment.
/// @param lights [B + 1] first row of each light
std::vector<float> log_softmax(const float* logits, std::span<const std::int64_t> lights) {
  std::vector<float> out(logits, logits + lights.back());
  for (std::size_t b = 0; b + 1 < lights.size(); ++b) {
    rl::log_softmax_in_place(std::span(out.data() + lights[b], out.data() + lights[b + 1]));
  }
  return out;
}

/// Index of the most probable green of each light. If there are random numbers (uniforms), samples
/// a green instead (Gumbel-max trick).
std::vector<std::int32_t> pick(std::span<const float> log_probs,
                               std::span<const std::int64_t> lights,
                               std::span<const float> uniforms) {
  std::vector<std::int32_t> picked;
  for (std::size_t b = 0; b + 1 < lights.size(); ++b) {
    std::int64_t best = lights[b];
    double most = -INFINITY;
    for (std::int64_t row = lights[b]; row < lights[b + 1]; ++row) {
      const auto r = static_cast<std::size_t>(row);
      double score = static_cast<double>(log_probs[r]);
      if (!uniforms.empty()) {
        const double u = static_cast<double>(uniforms[r]);
        score -= std::log(-std::log(u + 0x1p-25));  // u in [0, 1) by steps of 2^-24
      }
      if (score <= most) continue;
      most = score;
      best = row;
    }
    picked.push_back(static_cast<std::int32_t>(best - lights[b]));
  }
  return picked;
}

/// Epsilon-greedy choice for each light. One uniform number per light decides whether it explores
/// and, if so, which green it takes.
std::vector<std::int32_t> pick_exploring(std::span<const float> scores,
                                         std::span<const std::int64_t> lights,
                                         std::span<const float> uniforms, double epsilon) {
  std::vector<std::int32_t> picked = pick(scores, lights, {});
  for (std::size_t b = 0; b < picked.size(); ++b) {
    const auto u = static_cast<double>(uniforms[static_cast<std::size_t>(lights[b])]);
    if (u >= epsilon) continue;
    const auto greens = static_cast<double>(lights[b + 1] - lights[b]);
    picked[b] = static_cast<std::int32_t>(u / epsilon * greens);
  }
  return picked;
}

/// A weight for each feature of a green: the given weight, or 0 if `weights` does not contain the
/// feature.
torch::Tensor rule_of(const std::map<std::string_view, double>& weights) {
  const auto names = scene::signal_features();
  torch::Tensor rule = torch::zeros({static_cast<std::int64_t>(names.size())});
  auto* weight = rule.mutable_data_ptr<float>();
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (weights.contains(names[i])) weight[i] = static_cast<float>(weights.at(names[i]));
  }
  return rule;
}

/// The script `greedy` as weights of the features: the green with the most vehicles near its stop
/// line wins. The present green gets a bonus of half a vehicle, so that it wins ties.
torch::Tensor greedy_rule(double logit_of_a_vehicle) {
  constexpr double kNearScale = 10.0;  // the feature "near" counts vehicles in units of 10
  return rule_of(
      {{"near", logit_of_a_vehicle * kNearScale}, {"is_present", logit_of_a_vehicle / 2}});
}

/// Weights of the features with which the advised option wins.
torch::Tensor advice_rule(double logit_of_a_vehicle) {
  return rule_of({{"advised", kVehiclesOfAdvice * logit_of_a_vehicle}});
}

/// Copies the rows of several arrays into one tensor.
torch::Tensor stack_rows(std::span<const std::span<const float>> arrays, std::size_t columns) {
  std::size_t numbers = 0;
  for (const auto& array : arrays) numbers += array.size();
  torch::Tensor rows = torch::empty(
      {static_cast<std::int64_t>(numbers / columns), static_cast<std::int64_t>(columns)});
  auto* to = rows.mutable_data_ptr<float>();
  for (const auto& array : arrays) to = std::copy(array.begin(), array.end(), to);
  return rows;
}

/// Names of the features that a policy reads, as text for a checkpoint: the features of a green
/// and, if the policy reads the graph, the features of an edge.
std::string features_text(bool looks_around) {
  std::string text = fmt::format("{}", fmt::join(scene::signal_features(), " "));
  if (looks_around) text += fmt::format("; {}", fmt::join(scene::signal_edge_features(), " "));
  return text;
}

}  // namespace

LightBatch light_batch(std::span<const rollout::LightChoice> choices, std::span<const float> rows) {
  std::vector<std::int64_t> ptr{0};
  std::vector<std::int64_t> present;
  for (const rollout::LightChoice& choice : choices) {
    present.push_back(ptr.back() + choice.present);
    ptr.push_back(ptr.back() + choice.num_greens);
  }
  return {.rows = stack_rows(std::span(&rows, 1), scene::signal_features().size()),
          .present = torch::tensor(present, torch::kLong),
          .lights = rl::Segments(torch::tensor(ptr, torch::kLong))};
}

model::GraphBatch pack_lights(std::span<const scene::SignalGraphView> moments) {
  std::vector<GraphEdges> edges;
  std::vector<std::span<const float>> of_nodes;
  std::vector<std::span<const float>> of_edges;
  for (const scene::SignalGraphView& moment : moments) {
    edges.push_back({moment.edge_ptr, moment.edge_src});
    of_nodes.push_back(moment.node_features);
    of_edges.push_back(moment.edge_features);
  }
  model::GraphBatch graph = join_edges(edges);
  graph.node_features = stack_rows(of_nodes, scene::num_signal_node_features());
  graph.edge_features = stack_rows(of_edges, scene::signal_edge_features().size());
  return graph;
}

LightPolicy::LightPolicy(const LightKind& kind, std::uint64_t seed, double logit_of_a_vehicle)
    : kind_(kind),
      network_(model::SignalNetworkShape{
          .features = static_cast<std::int64_t>(scene::signal_features().size()),
          .hidden_dim = kind.hidden_dim,
          .encoder_layers = kind.encoder_layers,
          .node_features = static_cast<std::int64_t>(scene::num_signal_node_features())}) {
  network_->reset(seed, kind.keeps_programs ? advice_rule(logit_of_a_vehicle)
                                            : greedy_rule(logit_of_a_vehicle));
}

LightBatch LightPolicy::observe(std::span<const rollout::LightChoice> choices,
                                std::span<const float> rows,
                                const scene::SignalGraphView& graph) const {
  LightBatch batch = light_batch(choices, rows);
  if (!looks_around()) return batch;
  TRAFFIC_CHECK(
      graph.num_nodes() > 0,
      "a light policy with an encoder needs the graph of all lights, but got an empty one");
  std::vector<std::int64_t> node;
  for (const rollout::LightChoice& choice : choices) node.push_back(choice.light);
  batch.graph = pack_lights(std::span(&graph, 1));
  batch.node = torch::tensor(node, torch::kLong);
  return batch;
}

model::SignalOutput LightPolicy::forward(const LightBatch& batch) {
  return network_->forward({.rows = batch.rows,
                            .light = batch.lights.index(),
                            .present = batch.present,
                            .graph = batch.graph,
                            .node = batch.node});
}

LightDecisions LightPolicy::decide(const LightBatch& batch, std::span<const float> uniforms) {
  const torch::NoGradGuard no_grad;
  const model::SignalOutput out = forward(batch);
  const auto* ptr = batch.lights.ptr().const_data_ptr<std::int64_t>();
  const std::span lights(ptr, static_cast<std::size_t>(batch.lights.count()) + 1);
  const std::vector<float> log_probs = log_softmax(out.logits.const_data_ptr<float>(), lights);
  const bool explores = epsilon_ && !uniforms.empty();
  LightDecisions made{.green = explores ? pick_exploring(log_probs, lights, uniforms, *epsilon_)
                                        : pick(log_probs, lights, uniforms)};
  for (std::size_t b = 0; b < made.green.size(); ++b)
    made.log_prob.push_back(log_probs[static_cast<std::size_t>(ptr[b] + made.green[b])]);
  const auto* value = out.values.const_data_ptr<float>();
  made.value.assign(value, value + made.green.size());
  return made;
}

LightTerms LightPolicy::evaluate(const LightBatch& batch, const torch::Tensor& chosen) {
  const model::SignalOutput out = forward(batch);
  const torch::Tensor log_probs = batch.lights.log_softmax(out.logits);
  return {.log_prob = log_probs.index_select(0, chosen),
          .entropy = -batch.lights.sum(log_probs.exp() * log_probs),
          .values = out.values};
}

void LightPolicy::pack_for_inference() { network_->pack_for_inference(); }

comm::NamedTensors LightPolicy::parameters() const {
  comm::NamedTensors all;
  for (const auto& item : network_->named_parameters()) {
    all.emplace_back("lights." + item.key(), item.value());
  }
  return all;
}

void put_light_kind(checkpoint::Snapshot& snapshot, const LightKind& kind) {
  snapshot.put_text("lights/features", features_text(kind.encoder_layers > 0));
  snapshot.put_int("lights/hidden_dim", kind.hidden_dim);
  snapshot.put_int("lights/encoder_layers", kind.encoder_layers);
  snapshot.put_int("lights/keeps_programs", kind.keeps_programs ? 1 : 0);
}

bool has_light_policy(const checkpoint::Snapshot& snapshot) {
  return snapshot.contains("lights/features");
}

LightKind light_kind_in(const checkpoint::Snapshot& snapshot) {
  if (!has_light_policy(snapshot)) {
    throw CheckpointError("checkpoint {}: it holds no policy of traffic lights", snapshot.source());
  }
  const LightKind kind{.hidden_dim = snapshot.integer("lights/hidden_dim"),
                       .encoder_layers = snapshot.integer("lights/encoder_layers"),
                       .keeps_programs = snapshot.integer("lights/keeps_programs") != 0};
  const std::string expected = features_text(kind.encoder_layers > 0);
  if (const std::string found = snapshot.text("lights/features"); found != expected) {
    throw CheckpointError(
        "checkpoint {}: its light policy reads the features '{}', this version provides '{}'; "
        "train the policy again",
        snapshot.source(), found, expected);
  }
  return kind;
}

void check_light_kind(const checkpoint::Snapshot& snapshot, const LightKind& expected) {
  const LightKind found = light_kind_in(snapshot);
  if (found == expected) return;
  if (found.keeps_programs != expected.keeps_programs) {
    const auto acts = [](const LightKind& kind) {
      return kind.keeps_programs ? "keeps the lights' programs" : "replaces the lights' programs";
    };
    throw CheckpointError(
        "checkpoint {}: its light policy {}, but with this run's lights.advisor a policy {}; set "
        "the checkpoint's lights.advisor, or train a new policy",
        snapshot.source(), acts(found), acts(expected));
  }
  throw CheckpointError(
      "checkpoint {}: its light policy has lights.hidden_dim = {} and lights.encoder_layers = {}, "
      "this run has {} and {}; set the checkpoint's values, or train a new policy",
      snapshot.source(), found.hidden_dim, found.encoder_layers, expected.hidden_dim,
      expected.encoder_layers);
}

}  // namespace traffic::train
