/// The start of a pool: memory on every node, then the workers that the job lacks.
#pragma once

#include "pool_memory.h"
#include "traffic/comm/mpi_session.h"
#include "traffic/rollout/pool/worker_pool.h"

namespace traffic::rollout {

/// Makes the memory of a pool on every node and starts the workers that are missing. Collective.
/// @return the memory of this rank's node
/// @throws as WorkerPool's constructor, the same on all ranks
PoolMemory start_pool(const comm::MpiSession& session, const WorkerPoolSpec& spec);

}  // namespace traffic::rollout
