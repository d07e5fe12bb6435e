#pragma once

#include <optional>

#include "rank_watch.h"

namespace traffic::rollout {

/// Starts this program over, in the same process, when MPI_Init does not return in time; while it
/// lives, at the first attempts. At the last one it ends the process once the rank that asked for
/// it is gone: that had given it up and gone on with other workers.
///
/// With PMIx 4.2 (Debian 12) a spawned process on a busy machine may wait in PMIx_Init for an
/// answer that never comes, and whoever spawned it waits with it (openpmix issue 2735, open for
/// Open MPI 4.1). The same process is answered when it asks again.
class StartWatch {
 public:
  /// Uses SIGALRM.
  /// @param memory the value of --memory, for the arguments of the next attempt
  /// @param attempt the number of this one, from 1
  StartWatch(const char* memory, int attempt);
  ~StartWatch();
  StartWatch(const StartWatch&) = delete;
  StartWatch& operator=(const StartWatch&) = delete;

 private:
  std::optional<RankWatch> rank_watch_;  ///< at the last attempt
};

}  // namespace traffic::rollout
