/// Functions with which a rank checks and ends the rollout workers of its node while it uses a
/// WorkerPool.
#pragma once

#include <functional>

#include "pool_memory.h"

namespace traffic::rollout {

/// Seconds within which every started worker must give a sign of life on an idle machine. The limit
/// is long, because the program may have to be loaded from a network file system.
inline constexpr double kStart_s = 30.0;
/// Factor by which a start may take longer than on an idle machine: the number of processes per
/// core that run or wait, at least 1.
double slowdown();

/// Requires that the pool can still be used.
/// @param grace_s seconds to wait before throwing if the leader (first rank of the node) has closed
/// the pool. In this time the leader can report its own error and end the job.
/// @throws WorkerError if a worker has given up a simulation (the text contains the simulation's
/// last output), or if the node's leader has closed the pool
void require_open(const PoolMemory& memory, double grace_s);

/// Waits until all workers have given a sign of life. Only the leader calls it.
/// @param timeout_s kStart_s on an idle machine, longer by the factor slowdown() on a busy one
/// @param look called again and again while the function waits; may throw
/// @throws WorkerError naming the first worker that has given no sign of life in time
void wait_for_workers(
    const PoolMemory& memory, double timeout_s, const std::function<void()>& look = [] {});

/// Requires that all workers of the node run.
/// @param limit_s seconds without a sign of life after which a worker counts as stopped
/// @param oom_kills_before num_oom_kills() (processes that the kernel has killed for lack of
/// memory) when the workers started
/// @throws WorkerError if a worker is gone or stopped
void require_workers_alive(const PoolMemory& memory, double limit_s, std::int64_t oom_kills_before);

/// Closes the pool and waits until the workers have ended its simulations. Kills workers that need
/// longer than timeout_s. Only the leader calls it.
/// @return true if every worker has ended its simulations in time
bool close_pool(const PoolMemory& memory, double timeout_s);

}  // namespace traffic::rollout
