/// Synthetic experience for tests of the learners of vehicles. The task is to stop the candidates
/// whose first feature is positive.
#pragma once

#include <cstdint>
#include <vector>

#include "support/alone_communicator.h"
#include "support/uniforms.h"
#include "traffic/config/config.h"
#include "traffic/core/random.h"
#include "train/policy/policy.h"
#include "train/rollouts/experience.h"

namespace traffic::train::testing {

constexpr std::int64_t kOwn = 3;
constexpr std::int64_t kShared = 2;
constexpr std::int64_t kConflictWidth = 4;
constexpr model::ControllerInputs kWidths{
    .own = kOwn, .shared = kShared, .impact = 0, .conflict = kConflictWidth};

inline config::Config small_config() {
  config::Config config;
  config.vehicles.hidden_dim = 16;
  config.vehicles.top_k = 2;
  config.vehicles.commands = {"none", "stop", "fast"};
  config.vehicles.lane_change = false;
  config.ppo.minibatch_size = 32;
  config.ppo.num_epochs = 3;
  config.ppo.learning_rate = 1e-2;
  config.ppo.final_learning_rate = 1e-2;
  config.ppo.target_kl = 0.0;
  config.ppo.ent_coef = 1e-3;
  config.ppo.gae_lambda = 0.5;
  config.ppo.gamma = 0.5;
  return config;
}

/// Plays one trajectory. States have 0 to 4 candidates with random features. Stopping a candidate
/// gives a reward of 1 if its first feature is positive, and of -1 otherwise. The command "fast"
/// has no effect.
inline Trajectory play(std::int64_t order, std::int64_t length, std::int64_t conflicts,
                       Policy& policy, std::uint64_t seed) {
  Rng rng(derive_seed(seed, {static_cast<std::uint64_t>(order)}));
  Trajectory trajectory{.order = order};
  const auto draw = [&](std::int64_t rows, std::int64_t columns) {
    return test::draw_uniforms(rng, {rows, columns}) * 2.0 - 1.0;
  };
  for (std::int64_t t = 0; t < length; ++t) {
    const auto m = static_cast<std::int64_t>(rng.uniform_int(5));
    Step step;
    step.seen.own = draw(m, kOwn);
    step.seen.shared = draw(1, kShared);
    step.seen.conflict = draw(conflicts, kConflictWidth);
    const torch::Tensor ptr = torch::tensor({std::int64_t{0}, m});
    const Decisions made = policy.decide(
        {.own = step.seen.own, .shared = step.seen.shared, .segments = rl::Segments(ptr)},
        torch::tensor({policy.top_k()}), test::draw_uniforms(rng, {m, policy.uniform_columns()}));
    step.selection_decides = m > made.row.numel();
    step.reward.assign(static_cast<std::size_t>(conflicts), 0.0F);
    step.cost.assign(static_cast<std::size_t>(conflicts), 0.0F);
    for (std::int64_t d = 0; d < made.row.numel(); ++d) {
      const auto place = made.row[d].item<std::int64_t>();
      const auto conflict =
          static_cast<std::int64_t>(rng.uniform_int(static_cast<std::uint64_t>(conflicts)));
      step.made.place.push_back(place);
      step.made.action.push_back(made.action[d].item<float>());
      step.made.lane.push_back(made.lane[d].item<std::int64_t>());
      step.decision_conflict.push_back(conflict);
      const bool stopped = made.action[d].item<float>() == 1.0F;
      step.own_cost.push_back(stopped ? 0.01F : 0.0F);
      if (!stopped) continue;
      const bool wanted = step.seen.own[place][0].item<float>() > 0.0F;
      step.reward[static_cast<std::size_t>(conflict)] += wanted ? 1.0F : -1.0F;
    }
    trajectory.steps.push_back(std::move(step));
  }
  trajectory.terminated = order % 2 == 0;
  trajectory.final_conflict = draw(conflicts, kConflictWidth);
  return trajectory;
}

using traffic::test::AloneCommunicator;

constexpr std::int64_t kLength = 15;

/// A rank's share of the trajectories, packed into one experience.
inline Experience share(const std::vector<Trajectory>& all, int rank, int size,
                        std::int64_t conflicts, std::int64_t top_k) {
  std::vector<Trajectory> mine;
  std::vector<std::int64_t> first;
  for (const Trajectory& trajectory : all) {
    if (trajectory.order % size != rank) continue;
    mine.push_back(trajectory);
    first.push_back(trajectory.order * kLength);
  }
  return pack(mine, first, kWidths, conflicts, top_k);
}

/// Plays `count` trajectories of kLength steps.
inline std::vector<Trajectory> play_all(std::int64_t count, std::int64_t conflicts, Policy& policy,
                                        std::uint64_t seed) {
  std::vector<Trajectory> all;
  for (std::int64_t i = 0; i < count; ++i) {
    all.push_back(play(i, kLength, conflicts, policy, seed));
  }
  return all;
}

}  // namespace traffic::train::testing
