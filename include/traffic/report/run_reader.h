/// RunReader reads the folder of a run, for programs that show, compare or wait for runs. It never
/// writes to the folder, and may be used while the run is in progress.
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "traffic/core/lock_holder.h"
#include "traffic/report/run_folder.h"
#include "traffic/report/run_series.h"

namespace traffic::report {

enum class RunStatus {
  kRunning,
  kDone,
  kStopped,  ///< stopped by request; starting the same command again continues the run
  kFailed,
  kDead,  ///< killed: no process holds the lock, and the run wrote no summary
};

/// "running", "done", "stopped", "failed" or "dead"
std::string_view to_string(RunStatus status);

class RunReader {
 public:
  /// @throws DataError if the folder does not exist or does not contain files of a run
  explicit RunReader(const std::filesystem::path& dir);

  [[nodiscard]] const RunFolder& folder() const { return folder_; }
  /// The parts of a run that consists of several trainings: each training that has begun has a
  /// folder below the run's folder. The parts are sorted by name. Empty if the run is a single
  /// training.
  [[nodiscard]] std::vector<RunReader> parts() const;

  // These functions read the file again at each call.

  /// Content of summary.json. Nothing if the file does not exist, because the run has not ended.
  /// @throws DataError naming file and line if the file is damaged
  [[nodiscard]] std::optional<nlohmann::ordered_json> summary() const;
  /// Content of evaluation.json. Nothing if the file does not exist.
  /// @throws DataError naming file and line if the file is damaged
  [[nodiscard]] std::optional<nlohmann::ordered_json> evaluation() const;
  /// Content of search.json. Nothing if the file does not exist.
  /// @throws DataError naming file and line if the file is damaged
  [[nodiscard]] std::optional<nlohmann::ordered_json> search() const;
  /// Content of metrics.jsonl.
  /// @throws ResourceError if the file exists but cannot be read
  [[nodiscard]] Metrics metrics() const { return read_metrics(folder_.metrics()); }
  /// Content of episodes.csv.
  /// @throws ResourceError if the file exists but cannot be read
  [[nodiscard]] Episodes episodes() const { return read_episodes(folder_.episodes()); }

  /// The process that run.lock names as the writer of this run, or of the run that contains this
  /// part. Nothing if there is no such process any more. A process on another machine counts as
  /// running, because this machine cannot see it. Does not take the lock.
  [[nodiscard]] std::optional<LockHolder> holder() const;
  /// @throws DataError naming the file if the summary is damaged
  [[nodiscard]] RunStatus status() const;
  /// The status in summary.json, even while a process holds the lock. kDead if there is no summary.
  /// @throws DataError naming the file if the summary is damaged
  [[nodiscard]] RunStatus written_status() const;

 private:
  RunFolder folder_;
  std::filesystem::path lock_;
  bool is_part_ = false;
};

/// The folders of the `at_most` runs below `root` (root/NAME/TIME or root/NAME) that were last
/// written to, the newest first. Empty if `root` does not exist.
std::vector<std::filesystem::path> newest_runs(const std::filesystem::path& root,
                                               std::size_t at_most);

}  // namespace traffic::report
