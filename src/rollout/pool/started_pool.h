/// StartedPool, a pool whose rollout workers run. The constructors of WorkerPool, which start the
/// workers in different ways, pass it to the part that they share.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "job_workers.h"
#include "pool_memory.h"
#include "traffic/comm/topology.h"
#include "traffic/os/child_process.h"
#include "traffic/rollout/pool/worker_pool.h"

namespace traffic::rollout {

struct WorkerPool::StartedPool {
  PoolMemory memory;                             ///< memory of this rank's node
  comm::Topology topology = {};                  ///< the ranks that use the pool
  JobWorkers* workers = nullptr;                 ///< those of this node; only the leader uses them
  std::function<void()> meet = [] {};            ///< waits until all ranks have called it
  std::unique_ptr<JobWorkers> own_workers = {};  ///< `workers` if they serve this pool alone
  std::vector<os::ChildProcess> processes = {};  ///< the workers that this process has started
};

}  // namespace traffic::rollout
