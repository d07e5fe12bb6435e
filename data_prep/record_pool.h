/// Starts and watches one worker process for each file, and starts it once more if it crashes.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "record_plan.h"
#include "record_worker.h"
#include "traffic/core/error.h"

namespace traffic::data_prep {

struct FailedFile {
  std::string file;
  std::string reason;
  ExitCode code = ExitCode::kWorkers;
};

struct PoolResult {
  std::vector<std::string> files;  ///< complete, in the order of the plan
  std::vector<FailedFile> failed;
  std::int64_t steps = 0;
  std::int64_t retries = 0;
  bool stopped = false;  ///< by a signal; unfinished files are neither complete nor failed
};

/// Receives the number of completed episodes, and of simulation steps since the last call.
using PoolProgress = std::function<void(std::size_t episodes_done, std::int64_t steps)>;

/// Runs the jobs, at most `workers` at once. This process must have one thread only. Starts a
/// worker once more if it crashes or is silent for options.timeout_s, but not after errors of
/// configuration, data and resources, because a restart would repeat these.
[[nodiscard]] PoolResult run_pool(const std::vector<RecordJob>& jobs, std::size_t workers,
                                  const RecordPlan& plan, const RecordOptions& options,
                                  const std::string& command_line, const PoolProgress& progress);

}  // namespace traffic::data_prep
