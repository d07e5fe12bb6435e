/// What is settled before a pool's first process starts.
#pragma once

#include "pool_memory.h"
#include "traffic/config/config.h"
#include "traffic/rollout/env_pool.h"

namespace traffic::rollout {

/// @throws WorkerError naming what is missing: both programs exist and can be executed
void require_programs(const Programs& programs);

/// @throws ResourceError if this user may open too few files or start too few processes
void require_limits(const Geometry& geometry);

PoolPlan plan_pool(const config::Config& config, int num_ranks, const Programs& programs);

}  // namespace traffic::rollout
