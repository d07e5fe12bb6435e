/// Computes the learning rate over the optimiser steps or iterations of a training: a linear
/// warm-up, then a decay to a floor.
#pragma once

#include <cstdint>
#include <string_view>

#include "traffic/config/config.h"

namespace traffic::train {

enum class Decay : std::uint8_t { kCosine, kLinear };

/// A schedule. A step is an optimiser step or an iteration.
struct LrSchedule {
  double peak = 1e-3;   ///< rate after the warm-up, from which the decay begins
  double floor = 1e-6;  ///< rate from step total_steps on
  std::int64_t warmup_steps = 0;
  std::int64_t total_steps = 1;
  Decay decay = Decay::kCosine;
  std::int64_t first_step = 0;  ///< first step of the warm-up; before a warm-up the rate is 0

  /// Rate of the update with index `step` (0-based). A resumed run needs only this number to
  /// continue. From step `warmup_steps` on the rate decays linearly or along half a cosine (source:
  /// Loshchilov and Hutter 2017, arXiv:1608.03983, eq. 5, without restarts). The decay begins at
  /// this step even if first_step is not 0. A warm-up that ends later than step `warmup_steps`
  /// therefore rises to a rate below the peak.
  [[nodiscard]] double at(std::int64_t step) const;

 private:
  [[nodiscard]] double decayed(std::int64_t step) const;
};

/// The learning rate of PPO over iterations, as [ppo] or [lights.ppo] describes it.
/// @param iterations number of iterations of the whole training
/// @param first_iteration the first iteration of PPO after imitation, where the warm-up begins
LrSchedule schedule_of(const config::Ppo& ppo, std::int64_t iterations,
                       std::int64_t first_iteration = 0);

/// The learning rate over the steps of a training from recorded data, as [train] describes it. The
/// warm-up takes at most half of a training, even of a very short one.
LrSchedule schedule_of(const config::Train& train, int num_ranks, std::int64_t total_steps);

/// Factor on the learning rate if the batch grows with the number of ranks.
/// @param scaling none, linear or sqrt
/// Source of linear: Goyal et al. 2017, arXiv:1706.02677.
double learning_rate_factor(std::string_view scaling, int num_ranks);

}  // namespace traffic::train
