/// Rollout workers started through MPI. mpi.h stays in the source.
#pragma once

#include <sys/types.h>

#include <functional>
#include <memory>
#include <string>

namespace traffic::rollout {

struct WorkerSpawn {
  std::string program;  ///< exists and can be executed: Open MPI hangs or ends the job otherwise
  int count = 1;
  pid_t memory_pid = 0;  ///< whose descriptor memory_fd is the pool's memory
  int memory_fd = -1;
  double timeout_s = 60;
  std::function<void()> on_timeout;  ///< called in another thread; must end the process
};

/// The workers that this rank has started; null when default-constructed.
class SpawnedWorkers {
 public:
  SpawnedWorkers() = default;
  /// Returns once MPI has started them.
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

}  // namespace traffic::rollout
