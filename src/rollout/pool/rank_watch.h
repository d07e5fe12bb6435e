#pragma once

#include <sys/types.h>

namespace traffic::rollout {

/// While it lives it ends this process once a rank is gone: what it waits for in MPI will not come,
/// and mpirun waits for it, for ever. Uses SIGALRM; one at a time.
class RankWatch {
 public:
  explicit RankWatch(pid_t rank);
  ~RankWatch();
  RankWatch(const RankWatch&) = delete;
  RankWatch& operator=(const RankWatch&) = delete;
};

}  // namespace traffic::rollout
