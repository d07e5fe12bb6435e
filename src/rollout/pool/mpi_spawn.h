/// Starts rollout workers through MPI. Only mpi_spawn.cpp includes mpi.h.
#pragma once

#include <sys/types.h>

#include <functional>
#include <string>
#include <vector>

namespace traffic::rollout {

/// The workers of a node.
struct NodeWorkers {
  std::string host;  ///< as mpirun knows it
  int count = 1;
  /// The node's notice board is the memory behind descriptor board_fd of process leader_pid.
  pid_t leader_pid = 0;
  int board_fd = -1;
};

struct WorkerSpawn {
  std::string program;  ///< must exist and be executable; otherwise mpirun ends the job
  std::vector<NodeWorkers> nodes;
  double timeout_s = 60;
  std::function<void()> on_timeout;  ///< called in another thread; must end the process
};

/// Starts the workers of all nodes and returns once their processes exist. The workers make no MPI
/// calls, so nothing in their start can wait for an answer of MPI, and they may exit at any time.
/// Open MPI's daemons watch the workers all the same: they end the job if a worker fails, and end
/// the workers with the job.
/// @throws WorkerError with MPI's own text
void spawn_workers(const WorkerSpawn& spawn);

/// Hands `bytes` of rank 0 to all ranks of the session's communicator.
void broadcast_from_rank0(int fortran_comm, void* bytes, int size);

/// Hands `bytes` of every rank to all, in the order of ranks.
void all_gather(int fortran_comm, const void* bytes, int size, void* of_all);

}  // namespace traffic::rollout
