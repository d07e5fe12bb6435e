/// A pool's memory in a test, without MPI.
#pragma once

#include <cstdint>
#include <numeric>
#include <string>

#include "rollout/pool/pool_memory.h"
#include "rollout/pool/slot.h"

namespace traffic::rollout::testing {

inline PoolPlan small_plan(std::uint32_t num_envs = 1, std::uint32_t num_ranks = 1) {
  PoolPlan plan;
  plan.ranks.resize(num_ranks);
  std::iota(plan.ranks.begin(), plan.ranks.end(), 0U);
  plan.geometry = {.num_envs = num_envs,
                   .world_size = num_ranks,
                   .envs_per_worker = num_envs,
                   .command_bytes = 1000,
                   .reply_bytes = 10000};
  plan.settings = "seed = 1";
  return plan;
}

}  // namespace traffic::rollout::testing
