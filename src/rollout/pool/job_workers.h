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
  /// process exits. Where it cannot, they notice that this process is gone.
  static JobWorkers& of_this_process();

  ~JobWorkers();
  JobWorkers(const JobWorkers&) = delete;
  JobWorkers& operator=(const JobWorkers&) = delete;

  /// @throws ResourceError
  NoticeBoard& board();
  /// Number of workers to start for a pool that needs `wanted`.
  [[nodiscard]] int missing(int wanted) const;
  /// The idle workers, and those started for it, serve a new pool of `wanted` workers.
  void take(int wanted);
  /// The workers of a pool that has ended are idle again.
  void give_back(int workers) { idle_ += workers; }
  /// A start failed: it is not known which workers are well, so later pools start new ones.
  void forget() { idle_ = 0; }

 private:
  JobWorkers() = default;

  std::optional<NoticeBoard> board_;
  pid_t owner_ = 0;  ///< the process that has made the board, and not one forked from it
  int idle_ = 0;
};

}  // namespace traffic::rollout
