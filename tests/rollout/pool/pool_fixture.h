/// A pool's memory in a test, without MPI.
#pragma once

#include <string>

#include "rollout/pool/pool_memory.h"
#include "rollout/pool/slot.h"

namespace traffic::rollout::testing {

inline PoolPlan small_plan(std::uint32_t num_envs = 1, std::uint32_t num_ranks = 1) {
  PoolPlan plan;
  plan.geometry = {.num_ranks = num_ranks,
                   .num_envs = num_envs,
                   .envs_per_worker = num_envs,
                   .command_bytes = 1000,
                   .reply_bytes = 10000};
  plan.settings = "seed = 1";
  return plan;
}

}  // namespace traffic::rollout::testing
