/// Minibatches of every make, and their gradients without padding and recording.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "phase2_fixture.h"
#include "traffic/comm/flat_arena.h"
#include "train/graphed_minibatch.h"
#include "train/loss_terms.h"

namespace traffic::train::testing {

/// What a controller may be asked for.
struct ActionKind {
  std::string longitudinal;
  bool lane_change = false;
};

inline void PrintTo(const ActionKind& kind, std::ostream* out) {
  *out << kind.longitudinal << (kind.lane_change ? " and lanes" : "");
}

inline config::Config config_of(const ActionKind& kind) {
  config::Config config = small_config();
  config.action.longitudinal = kind.longitudinal;
  config.action.lane_change = kind.lane_change;
  return config;
}

constexpr model::ControllerInputs kWidthsWithImpact{
    .own = kOwn, .shared = kShared, .impact = 2, .conflict = kConflictWidth};
constexpr std::int64_t kConflicts = 2;
constexpr rl::PpoCoefficients kCoefficients{
    .clip_range = 0.2, .vf_clip_range = 0.3, .ent_coef = 0.02, .vf_coef = 0.7};

/// A policy on a device, with its gradients in an arena.
struct Pupil {
  explicit Pupil(const config::Config& config, torch::Device device = torch::kCPU)
      : policy(config, kWidthsWithImpact, device),
        alone(device),
        parameters(policy.parameters()),
        gradients(parameters, alone) {}

  Policy policy;
  test::AloneCommunicator alone;
  comm::ParameterArena parameters;
  comm::GradientArena gradients;
};

/// Some experience with made-up targets. Some states have no candidates; some, of the first
/// trajectory, have candidates of which none was picked; some have a conflict less.
struct Lesson {
  explicit Lesson(const config::Config& config, std::int64_t trajectories = 4)
      : experience(live(config, trajectories)) {
    torch::manual_seed(3);
    const std::int64_t S = experience.num_states();
    const std::int64_t D = experience.decisions.row.numel();
    Policy policy(config, kWidthsWithImpact, torch::kCPU);
    const torch::NoGradGuard no_grad;
    const Minibatch all = take(experience, torch::arange(S), torch::kCPU);
    const PolicyTermsOf terms = policy.evaluate(all.input, all.decisions);
    // Ratios on both sides of what is clipped.
    targets = {.returns = torch::randn({S, kConflicts}),
               .old_values = torch::randn({S, kConflicts}),
               .advantages = torch::randn({D}),
               .selection = torch::randn({S}),
               .old_log_prob = terms.log_prob + 0.3 * torch::randn({D}),
               .old_selection = terms.selection_log_prob + 0.3 * torch::randn({S})};
  }

  static Experience live(const config::Config& config, std::int64_t trajectories) {
    Policy policy(config, kWidthsWithImpact, torch::kCPU);
    auto all = play_all(trajectories, kConflicts, policy, 11);
    for (std::size_t t = 0; t < all.front().steps.size(); t += 2) {
      Step& step = all.front().steps[t];
      step.place.clear();
      step.action.clear();
      step.lane.clear();
      step.decision_conflict.clear();
      step.own_cost.clear();
      step.conflicts = 1;
    }
    return share(all, 0, 1, kConflicts, 2);
  }

  [[nodiscard]] torch::Tensor where(const torch::Tensor& holds) const {
    return torch::arange(experience.num_states()).masked_select(holds);
  }
  /// Minibatches of many sizes, among them one of no states, one without candidates and one without
  /// decisions.
  [[nodiscard]] std::vector<torch::Tensor> parts() const {
    torch::manual_seed(4);
    const torch::Tensor order = torch::randperm(experience.num_states());
    const torch::Tensor no_candidates = experience.candidates.sizes() == 0;
    const torch::Tensor no_decisions = experience.decided.sizes() == 0;
    return {order.slice(0, 0, 20),           order.slice(0, 20, 27),
            torch::empty({0}, torch::kLong), where(no_candidates),
            order.slice(0, 30, 31),          where(no_decisions.logical_and(~no_candidates)),
            order.slice(0, 10, 45),          order};
  }

  Experience experience;
  PpoTargets targets;
};

constexpr rl::PpoDenominators kDenominators{.decisions = 37.0, .values = 53.0};

/// Gradients and sums of a minibatch.
struct Outcome {
  torch::Tensor gradients;  ///< [P] on the CPU
  torch::Tensor sums;       ///< [rl::kNumPpoSums]
};

/// With shapes as they are, as Learner does it without recording.
inline Outcome unpadded(Pupil& pupil, const Lesson& lesson, const torch::Tensor& states) {
  const torch::Device device = pupil.policy.device();
  const Minibatch part = take(lesson.experience, states, device);
  const LossTerms terms = take_loss_terms(lesson.experience, lesson.targets, part, device);
  pupil.gradients.zero();
  const rl::PpoLoss loss = rl::ppo_loss(
      loss_inputs(pupil.policy, part.input, part.decisions, terms), kDenominators, kCoefficients);
  loss.loss.backward();
  return {
      .gradients = pupil.gradients.flat().to(torch::kCPU, /*non_blocking=*/false, /*copy=*/true),
      .sums = loss.sums.to(torch::kCPU)};
}

inline Outcome padded(Pupil& pupil, GraphedMinibatch& graphed, const Lesson& lesson,
                      const torch::Tensor& states) {
  pupil.gradients.zero();
  const torch::Tensor sums = graphed.add_gradients({.experience = lesson.experience,
                                                    .targets = lesson.targets,
                                                    .states = states,
                                                    .denominators = kDenominators});
  return {
      .gradients = pupil.gradients.flat().to(torch::kCPU, /*non_blocking=*/false, /*copy=*/true),
      .sums = sums.clone()};
}

/// Largest difference beside the largest value, or beside 1 where that is smaller.
inline double difference(const torch::Tensor& a, const torch::Tensor& b) {
  const double size = b.abs().max().item<double>();
  return (a - b).abs().max().item<double>() / std::max(1.0, size);
}

/// Sums of up to some hundred float32 terms of order 1 in another order: 100 * 2^-24.
constexpr double kSumTolerance = 1e-5;

inline void expect_same(const Outcome& actual, const Outcome& expected) {
  EXPECT_LT(difference(actual.gradients, expected.gradients), kSumTolerance);
  EXPECT_LT(difference(actual.sums, expected.sums), kSumTolerance);
}

}  // namespace traffic::train::testing
