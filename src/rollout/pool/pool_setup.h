/// Checks and plans before the first process of a pool starts.
#pragma once

#include "pool_memory.h"
#include "traffic/comm/topology.h"
#include "traffic/rollout/pool/worker_pool.h"

namespace traffic::rollout {

/// Requires that both programs exist and can be executed.
/// @throws WorkerError naming the program
void require_programs(const Programs& programs);

/// Requires that the launcher of the ranks can start more processes for them.
/// @throws ConfigError if the launcher is srun, which cannot
void require_spawning();

/// Requires sufficient limits of this user on open files and processes.
/// @throws ResourceError naming the limit
void require_limits(const Geometry& geometry);

/// Plans the part of this rank's node: the environments of its ranks.
/// @throws ConfigError if there are too few environments for the ranks
PoolPlan plan_pool(const WorkerPoolSpec& spec, const comm::Topology& topology);

}  // namespace traffic::rollout
