/// What is settled before a pool's first process starts.
#pragma once

#include "pool_memory.h"
#include "traffic/comm/topology.h"
#include "traffic/rollout/pool/worker_pool.h"

namespace traffic::rollout {

/// @throws WorkerError naming what is missing: both programs exist and can be executed
void require_programs(const Programs& programs);

/// @throws ConfigError if what has started the ranks cannot start more processes for them
void require_spawning();

/// @throws ResourceError if this user may open too few files or start too few processes
void require_limits(const Geometry& geometry);

/// The part of this rank's node: the environments of its ranks.
/// @throws ConfigError if there are too few environments for the ranks
PoolPlan plan_pool(const WorkerPoolSpec& spec, const comm::Topology& topology);

}  // namespace traffic::rollout
