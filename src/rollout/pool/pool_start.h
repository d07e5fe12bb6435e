/// The start of a pool: memory on every node, then the workers of all nodes.
#pragma once

#include <vector>

#include "pool_memory.h"
#include "traffic/comm/mpi_session.h"
#include "traffic/rollout/pool/worker_pool.h"

namespace traffic::rollout {

struct StartedPool {
  PoolMemory memory;  ///< of this rank's node
  /// Closed memory of starts that failed. It is kept until the pool ends, so that a worker that
  /// starts late finds the memory closed and exits.
  std::vector<PoolMemory> given_up;
};

/// Collective.
/// @throws as WorkerPool's constructor, the same on all ranks
StartedPool start_pool(const comm::MpiSession& session, const WorkerPoolSpec& spec);

}  // namespace traffic::rollout
