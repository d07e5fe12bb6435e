/// run_pool() records the files of a plan. It starts and watches one worker process for each file,
/// and starts a worker once more if it crashes.
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
  std::vector<std::string> files;  ///< complete files, in the order of the plan
  std::vector<FailedFile> failed;
  std::int64_t steps = 0;    ///< simulation steps of all workers
  std::int64_t retries = 0;  ///< number of workers that were started once more
  /// Whether a signal has stopped the recording. Unfinished files are then neither in `files` nor
  /// in `failed`.
  bool stopped = false;
};

/// Receives the number of episodes that are done, and the number of simulation steps since the last
/// call.
using PoolProgress = std::function<void(std::size_t episodes_done, std::int64_t steps)>;

/// Runs the jobs, at most `workers` of them at the same time. This process must have only one
/// thread, because it forks. If a worker crashes or sends nothing for options.timeout_s, run_pool()
/// starts the job once more. It does not do so after errors of configuration, data and resources,
/// because these would occur again.
[[nodiscard]] PoolResult run_pool(const std::vector<RecordJob>& jobs, std::size_t workers,
                                  const RecordPlan& plan, const RecordOptions& options,
                                  const std::string& command_line, const PoolProgress& progress);

}  // namespace traffic::data_prep
