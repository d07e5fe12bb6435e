/// Rollout workers started through MPI. mpi.h stays in the source.
#pragma once

#include <sys/types.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace traffic::rollout {

/// The workers of a node.
struct NodeWorkers {
  std::string host;  ///< as mpirun knows it
  int count = 1;
  pid_t memory_pid = 0;  ///< there, whose descriptor memory_fd is the memory of the node's pool
  int memory_fd = -1;
};

struct WorkerSpawn {
  std::string program;  ///< exists and can be executed: Open MPI hangs or ends the job otherwise
  std::vector<NodeWorkers> nodes;
  double timeout_s = 60;
  std::function<void()> on_timeout;  ///< called in another thread; must end the process
};

/// The workers of all nodes, which this rank has started; null when default-constructed.
class SpawnedWorkers {
 public:
  SpawnedWorkers() = default;
  /// Returns once MPI has started them. They are numbered in the order of the nodes.
  /// @throws WorkerError with MPI's own text
  explicit SpawnedWorkers(const WorkerSpawn& spawn);
  /// Takes leave of the workers, who do the same at their end. Without it MPI_Finalize waits for
  /// them. Does nothing once MPI has ended.
  void disconnect();

 private:
  struct Link;
  std::shared_ptr<Link> link_;
};

/// Hands `bytes` of rank 0 to all ranks of the session's communicator.
void broadcast_from_rank0(int fortran_comm, void* bytes, int size);

/// Hands `bytes` of every rank to all, in the order of ranks.
void all_gather(int fortran_comm, const void* bytes, int size, void* of_all);

}  // namespace traffic::rollout
