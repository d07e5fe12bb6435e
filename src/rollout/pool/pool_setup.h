/// What is settled before a pool's first process starts.
#pragma once

#include "pool_memory.h"
#include "traffic/rollout/pool/worker_pool.h"

namespace traffic::rollout {

/// @throws WorkerError naming what is missing: both programs exist and can be executed
void require_programs(const Programs& programs);

/// @throws ResourceError if this user may open too few files or start too few processes
void require_limits(const Geometry& geometry);

/// @throws ConfigError if there are too few environments for the ranks
PoolPlan plan_pool(const WorkerPoolSpec& spec, int num_ranks);

}  // namespace traffic::rollout
