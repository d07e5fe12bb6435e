/// The rollout workers of this job: started when a pool needs more than there are, and kept for the
/// pools that follow.
#pragma once

#include <sys/types.h>

#include <optional>

#include "notice_board.h"

namespace traffic::rollout {

/// Counts the workers of this node. Only the leader of the node uses it.
class JobWorkers {
 public:
  /// There is one object, as there is one MPI job in a process. It ends the workers when this
  /// process exits. If it cannot, the workers notice that this process is gone.
  static JobWorkers& of_this_process();

  ~JobWorkers();
  JobWorkers(const JobWorkers&) = delete;
  JobWorkers& operator=(const JobWorkers&) = delete;

  /// @throws ResourceError
  NoticeBoard& board();
  /// Number of workers to start for a pool that needs `wanted`.
  [[nodiscard]] int missing(int wanted) const;
  /// Assigns `wanted` workers to a new pool: the idle ones, and those that were started for it.
  void take(int wanted);
  /// Marks the workers of a pool that has ended as idle.
  void give_back(int workers) { idle_ += workers; }
  /// Call it when a start has failed. It is then unknown which workers still run, so later pools
  /// start new ones.
  void forget() { idle_ = 0; }

 private:
  JobWorkers() = default;

  std::optional<NoticeBoard> board_;
  pid_t owner_ = 0;  ///< the process that has made the board, and not one forked from it
  int idle_ = 0;
};

}  // namespace traffic::rollout
