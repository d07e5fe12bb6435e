#include "policy/signal_policy.h"

#include <fmt/ranges.h>

#include <cmath>

#include "traffic/core/error.h"
#include "traffic/scene/signal_view.h"

namespace traffic::train {
namespace {

/// Logarithms of the probabilities of a light's greens, [R].
torch::Tensor log_softmax(const torch::Tensor& logits, const rl::Segments& lights) {
  constexpr double kNone = 0.0;
  const torch::Tensor from_top = logits - lights.expand(lights.max(logits.detach(), kNone));
  return from_top - lights.expand(lights.sum(from_top.exp()).log());
}

/// The place of the highest in each segment; with uniforms a draw (Gumbel's trick).
std::vector<std::int32_t> pick(const torch::Tensor& log_probs, const rl::Segments& lights,
                               std::span<const float> uniforms) {
  const auto* log_prob = log_probs.const_data_ptr<float>();
  const auto* ptr = lights.ptr().const_data_ptr<std::int64_t>();
  std::vector<std::int32_t> picked;
  for (std::int64_t b = 0; b < lights.count(); ++b) {
    std::int64_t best = ptr[b];
    double most = -INFINITY;
    for (std::int64_t row = ptr[b]; row < ptr[b + 1]; ++row) {
      double score = static_cast<double>(log_prob[row]);
      if (!uniforms.empty()) {
        const double u = static_cast<double>(uniforms[static_cast<std::size_t>(row)]);
        score -= std::log(-std::log(u + 0x1p-25));  // u in [0, 1) by steps of 2^-24
      }
      if (score <= most) continue;
      most = score;
      best = row;
    }
    picked.push_back(static_cast<std::int32_t>(best - ptr[b]));
  }
  return picked;
}

/// The weights of the script `greedy` (the most vehicles near the line; the present green where
/// none has more) as a rule of probabilities: a vehicle more makes a green e^2 times as probable.
torch::Tensor greedy_rule() {
  constexpr float kOfAVehicle = 2.0F;
  constexpr float kNearScale = 10.0F;  // of the column
  constexpr float kOfThePresent = 1.0F;
  const auto names = scene::signal_features();
  torch::Tensor rule = torch::zeros({static_cast<std::int64_t>(names.size())});
  auto* weight = rule.mutable_data_ptr<float>();
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i] == "near") weight[i] = kOfAVehicle * kNearScale;
    if (names[i] == "is_present") weight[i] = kOfThePresent;
  }
  return rule;
}

std::string features_text() { return fmt::format("{}", fmt::join(scene::signal_features(), " ")); }

}  // namespace

SignalBatch signal_batch(std::span<const rollout::SignalChoice> choices,
                         std::span<const float> rows) {
  std::vector<std::int64_t> ptr{0};
  std::vector<std::int64_t> present;
  for (const rollout::SignalChoice& choice : choices) {
    present.push_back(ptr.back() + choice.present);
    ptr.push_back(ptr.back() + choice.num_greens);
  }
  const auto columns = static_cast<std::int64_t>(scene::signal_features().size());
  torch::Tensor copied = torch::empty({ptr.back(), columns});
  std::copy(rows.begin(), rows.end(), copied.mutable_data_ptr<float>());
  return {.rows = copied,
          .present = torch::tensor(present, torch::kLong),
          .lights = rl::Segments(torch::tensor(ptr, torch::kLong))};
}

SignalPolicy::SignalPolicy(std::int64_t hidden_dim, std::uint64_t seed)
    : network_(static_cast<std::int64_t>(scene::signal_features().size()), hidden_dim) {
  network_->reset(seed, greedy_rule());
}

SignalDecisions SignalPolicy::decide(const SignalBatch& batch, std::span<const float> uniforms) {
  const torch::NoGradGuard no_grad;
  const model::SignalOutput out = network_->forward(
      {.rows = batch.rows, .light = batch.lights.index(), .present = batch.present});
  const torch::Tensor log_probs = log_softmax(out.logits, batch.lights);
  SignalDecisions made{.green = pick(log_probs, batch.lights, uniforms)};
  const auto* log_prob = log_probs.const_data_ptr<float>();
  const auto* ptr = batch.lights.ptr().const_data_ptr<std::int64_t>();
  for (std::size_t b = 0; b < made.green.size(); ++b)
    made.log_prob.push_back(log_prob[ptr[b] + made.green[b]]);
  const torch::Tensor values = out.values.contiguous();
  const auto* value = values.const_data_ptr<float>();
  made.value.assign(value, value + made.green.size());
  return made;
}

SignalTerms SignalPolicy::evaluate(const SignalBatch& batch, const torch::Tensor& chosen) {
  const model::SignalOutput out = network_->forward(
      {.rows = batch.rows, .light = batch.lights.index(), .present = batch.present});
  const torch::Tensor log_probs = log_softmax(out.logits, batch.lights);
  return {.log_prob = log_probs.index_select(0, chosen),
          .entropy = -batch.lights.sum(log_probs.exp() * log_probs),
          .values = out.values};
}

comm::NamedTensors SignalPolicy::parameters() const {
  comm::NamedTensors all;
  for (const auto& item : network_->named_parameters()) {
    all.emplace_back("signals." + item.key(), item.value());
  }
  return all;
}

void put_signal_kind(checkpoint::Snapshot& snapshot, std::int64_t hidden_dim) {
  snapshot.put_text("signals/features", features_text());
  snapshot.put_int("signals/hidden_dim", hidden_dim);
}

std::int64_t signal_kind_in(const checkpoint::Snapshot& snapshot) {
  if (!snapshot.contains("signals/features")) {
    throw CheckpointError("{} holds no policy of traffic lights", snapshot.source());
  }
  if (const std::string found = snapshot.text("signals/features"); found != features_text()) {
    throw CheckpointError(
        "checkpoint {}: its lights see '{}', those of this version '{}'; train it again",
        snapshot.source(), found, features_text());
  }
  return snapshot.integer("signals/hidden_dim");
}

}  // namespace traffic::train
