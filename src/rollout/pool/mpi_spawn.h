/// The MPI calls of a pool's start: spawning rollout workers and exchanging data between ranks.
#pragma once

#include <sys/types.h>

#include <functional>
#include <string>
#include <vector>

namespace traffic::rollout {

/// The workers to start on a node.
struct NodeWorkers {
  std::string host;  ///< the node's name, as mpirun uses it
  int count = 1;
  /// Where a worker finds the node's notice board, which names the pool to serve: it is the memory
  /// behind descriptor board_fd of process leader_pid.
  pid_t leader_pid = 0;
  int board_fd = -1;
};

/// What spawn_workers() starts.
struct WorkerSpawn {
  std::string program;  ///< path of rollout_worker; if it cannot be executed, mpirun ends the job
  std::vector<NodeWorkers> nodes;
  double timeout_s = 60;
  std::function<void()> on_timeout;  ///< called in another thread; must end the process
};

/// Starts the workers of all nodes and returns once their processes exist. The workers make no MPI
/// calls, so they may exit at any time without waiting for MPI. Open MPI's daemons still watch the
/// workers: they end the job if a worker fails, and end the workers with the job.
/// @throws WorkerError with MPI's own text
void spawn_workers(const WorkerSpawn& spawn);

/// Copies `bytes` (`size` of them) of rank 0 to all ranks of the communicator. Collective.
void broadcast_from_rank0(int fortran_comm, void* bytes, int size);

/// Copies `bytes` (`size` of them) of every rank to `of_all` on all ranks, in the order of the
/// ranks. Collective.
void all_gather(int fortran_comm, const void* bytes, int size, void* of_all);

}  // namespace traffic::rollout
