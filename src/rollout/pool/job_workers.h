/// JobWorkers counts the idle rollout workers (processes that run simulations) of this job on one
/// node. Workers live as long as the job; a new pool starts only the workers that are missing
/// (pool_start.cpp). A pool without MPI has a JobWorkers object of its own (own_workers.cpp).
#pragma once

#include <sys/types.h>

#include <optional>

#include "notice_board.h"

namespace traffic::rollout {

/// Counts the workers of this node. Only the node's leader, its first rank, uses it.
class JobWorkers {
 public:
  /// The object of this process, which all pools share that MPI starts. Its destructor ends the
  /// workers when this process exits. If the process is killed, the workers notice that it is gone
  /// and end by themselves.
  static JobWorkers& of_this_process();

  JobWorkers() = default;
  ~JobWorkers();
  JobWorkers(const JobWorkers&) = delete;
  JobWorkers& operator=(const JobWorkers&) = delete;

  /// The board that tells the workers which pool to serve; created by the first call.
  /// @throws ResourceError
  NoticeBoard& board();
  /// Number of workers to start for a pool that needs `wanted`.
  [[nodiscard]] int missing(int wanted) const;
  /// Notes that a new pool uses `wanted` workers: the idle workers first, then newly started
  /// workers.
  void take(int wanted);
  /// Marks the workers of a pool that has ended as idle.
  void give_back(int workers) { idle_ += workers; }
  /// Call it when a start has failed. It is then unknown which workers still run, so later pools
  /// start new ones.
  void forget() { idle_ = 0; }

 private:
  std::optional<NoticeBoard> board_;
  pid_t owner_ = 0;  ///< the process that created the board; a process forked from it must not end
                     ///< the workers
  int idle_ = 0;     ///< number of workers that serve no pool
};

}  // namespace traffic::rollout
