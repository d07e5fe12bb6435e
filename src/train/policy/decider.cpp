#include "policy/decider.h"

#include <algorithm>

#include "traffic/core/random.h"
#include "traffic/rl/uniforms.h"

namespace traffic::train {
namespace {

/// Number of vehicles whose command still lasts. They are not candidates.
std::int64_t count_committed(const rollout::Period& period) {
  static const int kCommanded = scene::node_feature_index("commanded");
  static const int kCommitLeft = scene::node_feature_index("commit_left_s");
  const auto columns = scene::node_features().size();
  const scene::FrameView& frame = period.of<rollout::VehicleSection>().frames.back();
  constexpr float kTolerance_s = 1e-5F;
  std::int64_t count = 0;
  for (std::size_t i = 0; i < static_cast<std::size_t>(frame.num_nodes()); ++i) {
    const float* row = frame.node_features.data() + i * columns;
    if (row[kCommanded] > 0.5F && row[kCommitLeft] > kTolerance_s) ++count;
  }
  return count;
}

/// Concatenates the candidates of several states.
struct JoinedCandidates {
  std::vector<torch::Tensor> own;
  std::vector<torch::Tensor> shared;
  std::vector<std::int64_t> ptr{0};

  void add(const Observation& seen) {
    own.push_back(seen.own);
    shared.push_back(seen.shared);
    ptr.push_back(ptr.back() + seen.own.size(0));
  }
  [[nodiscard]] PolicyInput on(torch::Device device) const {
    return {.own = torch::cat(own).to(device),
            .shared = torch::cat(shared).to(device),
            .segments = rl::Segments(torch::tensor(ptr), device)};
  }
  [[nodiscard]] torch::Tensor draw(const Decider::Draw& draw, std::int64_t columns) const {
    torch::Tensor uniforms = torch::empty({ptr.back(), columns});
    auto* to = uniforms.mutable_data_ptr<float>();
    for (std::size_t b = 0; b + 1 < ptr.size(); ++b) {
      const auto count = static_cast<std::size_t>((ptr[b + 1] - ptr[b]) * columns);
      draw(b, {to, count});
      to += count;
    }
    return uniforms;
  }
};

}  // namespace

void draw_uniforms(std::uint64_t seed, std::int64_t step, std::span<float> uniforms) {
  Rng rng(derive_seed(seed, {static_cast<std::uint64_t>(step)}));
  rl::fill_uniforms(rng, uniforms);
}

std::vector<Observation> Decider::observe(std::span<const ObservationInput> inputs) const {
  const ObservationBatch seen = perception_.observe(inputs);
  std::vector<Observation> parts;
  for (std::int64_t b = 0; b < seen.num_states(); ++b) parts.push_back(part_of(seen, b));
  return parts;
}

std::int64_t Decider::may_pick(const rollout::Period& period) const {
  return std::max<std::int64_t>(0, policy_.top_k() - count_committed(period));
}

std::vector<DecidedState> Decider::decide(std::span<const DecisionInput> states,
                                          const Draw& draw) const {
  JoinedCandidates joined;
  std::vector<std::int64_t> left;
  for (const DecisionInput& state : states) {
    joined.add(*state.seen);
    left.push_back(may_pick(*state.period));
  }
  MaybeUniforms uniforms;
  if (draw) uniforms = joined.draw(draw, policy_.uniform_columns());
  const Decisions made =
      policy_.decide(joined.on(policy_.device()), torch::tensor(left, torch::kLong), uniforms);
  const auto* pick = made.picks.const_data_ptr<std::int64_t>();
  const auto* action = made.action.const_data_ptr<float>();
  const auto* lane = made.lane.const_data_ptr<std::int64_t>();
  std::vector<DecidedState> decided(states.size());
  for (std::size_t b = 0; b < states.size(); ++b, pick += policy_.top_k()) {
    const rollout::Period& period = *states[b].period;
    const auto count = std::find(pick, pick + policy_.top_k(), -1) - pick;
    decided[b].made = {.place = {pick, pick + count},
                       .action = {action, action + count},
                       .lane = {lane, lane + count}};
    for (std::ptrdiff_t d = 0; d < count; ++d) {
      decided[b].commands.push_back(policy_.command(
          period.of<rollout::VehicleSection>().frames.back(),
          period.of<rollout::VehicleSection>().candidates[static_cast<std::size_t>(pick[d])],
          action[d], lane[d]));
    }
    action += count;
    lane += count;
  }
  return decided;
}

}  // namespace traffic::train
