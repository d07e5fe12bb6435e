/// Computes how many simulations of traffic a training runs at the same time.
#pragma once

#include <algorithm>
#include <cstdint>

#include "traffic/config/config.h"

namespace traffic::config {

/// Returns rollout.workers x rollout.envs_per_worker, but at most rollout.max_concurrent_envs if
/// that is not 0.
inline std::int64_t num_simulations(const Rollout& rollout) {
  const std::int64_t all = rollout.workers * rollout.envs_per_worker;
  return rollout.max_concurrent_envs > 0 ? std::min(all, rollout.max_concurrent_envs) : all;
}

}  // namespace traffic::config
