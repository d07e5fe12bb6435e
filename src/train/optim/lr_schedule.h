/// Learning rate over optimiser steps or iterations: linear warm-up, then decay to a floor.
#pragma once

#include <cstdint>
#include <string_view>

#include "traffic/config/config.h"

namespace traffic::train {

enum class Decay : std::uint8_t { kCosine, kLinear };

struct LrSchedule {
  double peak = 1e-3;   ///< rate before the decay begins, after the warm-up
  double floor = 1e-6;  ///< rate from step total_steps on
  std::int64_t warmup_steps = 0;
  std::int64_t total_steps = 1;
  Decay decay = Decay::kCosine;
  std::int64_t first_step = 0;  ///< first step of the warm-up

  /// Rate of the update with index `step` (0-based). It depends on nothing else, so that a resumed
  /// run needs only the step. From step `warmup_steps` on the rate decays linearly or along half a
  /// cosine (source: Loshchilov and Hutter 2017, arXiv:1608.03983, eq. 5, without restarts). The
  /// decay begins there for any first_step, so a later warm-up rises to a rate below the peak.
  [[nodiscard]] double at(std::int64_t step) const;

 private:
  [[nodiscard]] double decayed(std::int64_t step) const;
};

/// The learning rate of PPO over iterations, as [ppo] or [lights.ppo] describes it.
/// @param iterations number of iterations of the whole training
/// @param first_iteration the first iteration of PPO after imitation: the warm-up begins there
LrSchedule schedule_of(const config::Ppo& ppo, std::int64_t iterations,
                       std::int64_t first_iteration = 0);

/// The learning rate over the steps of a training from recorded data, as [train] describes it. The
/// warm-up takes at most half of a training, even of a very short one.
LrSchedule schedule_of(const config::Train& train, int num_ranks, std::int64_t total_steps);

/// Factor on the learning rate of one rank, for a batch that grows with the number of ranks.
/// @param scaling none, linear or sqrt
/// Source of linear: Goyal et al. 2017, arXiv:1706.02677.
double learning_rate_factor(std::string_view scaling, int num_ranks);

}  // namespace traffic::train
