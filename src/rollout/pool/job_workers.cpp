// Counts the idle rollout workers of a node, and keeps the node's notice board (job_workers.h).
#include "job_workers.h"

#include <unistd.h>

#include <algorithm>

namespace traffic::rollout {

JobWorkers& JobWorkers::of_this_process() {
  static JobWorkers workers;
  return workers;
}

JobWorkers::~JobWorkers() {
  if (board_ && owner_ == getpid()) board_->end();
}

NoticeBoard& JobWorkers::board() {
  if (!board_) {
    board_.emplace();
    owner_ = getpid();
  }
  return *board_;
}

int JobWorkers::missing(int wanted) const { return std::max(0, wanted - idle_); }

void JobWorkers::take(int wanted) { idle_ = std::max(0, idle_ - wanted); }

}  // namespace traffic::rollout
