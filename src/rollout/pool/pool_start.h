/// start_pool() creates the memory of a WorkerPool and starts its rollout workers. The constructor
/// of WorkerPool calls it.
#pragma once

#include "pool_memory.h"
#include "traffic/comm/mpi_session.h"
#include "traffic/rollout/pool/worker_pool.h"

namespace traffic::rollout {

/// Creates the memory of a pool on every node and starts the additional workers that the pool
/// needs. Collective.
/// @return the memory of this rank's node
/// @throws the errors of WorkerPool's constructor, the same one on all ranks
PoolMemory start_pool(const comm::MpiSession& session, const WorkerPoolSpec& spec);

}  // namespace traffic::rollout
