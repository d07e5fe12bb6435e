/// Checks that a WorkerPool can start, and chooses its sizes. pool_start.cpp calls these functions
/// before it starts any process.
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

/// Chooses the sizes of the part of the pool that serves this rank's node. It has the environments
/// of all ranks of the node.
/// @throws ConfigError if there are fewer environments than ranks
PoolPlan plan_pool(const WorkerPoolSpec& spec, const comm::Topology& topology);

}  // namespace traffic::rollout
