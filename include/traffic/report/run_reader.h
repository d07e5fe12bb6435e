/// Reads the folder of a run, for programs that show, compare or wait for runs. It never writes to
/// the folder, and may be used while the run is in progress.
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
  kStopped,  ///< stopped by request; the same command continues the run
  kFailed,
  kDead,  ///< killed or lost: no process holds the lock, and the run wrote no summary
};

/// "running", "done", "stopped", "failed" or "dead"
std::string_view to_string(RunStatus status);

class RunReader {
 public:
  /// @throws DataError if there is no such folder or a run never wrote to it
  explicit RunReader(const std::filesystem::path& dir);

  [[nodiscard]] const RunFolder& folder() const { return folder_; }
  /// The parts of this run: if it consists of several trainings, each one that has begun has a
  /// folder below this one. They are sorted by name. Empty if the run is a single training.
  [[nodiscard]] std::vector<RunReader> parts() const;

  /// summary.json; nothing if the run has not ended yet.
  /// @throws DataError naming file and line if it is damaged
  [[nodiscard]] std::optional<nlohmann::ordered_json> summary() const;
  /// evaluation.json; nothing if there is none. @throws DataError as summary()
  [[nodiscard]] std::optional<nlohmann::ordered_json> evaluation() const;
  /// search.json; nothing if there is none. @throws DataError as summary()
  [[nodiscard]] std::optional<nlohmann::ordered_json> search() const;
  /// metrics.jsonl, read anew at each call. @throws ResourceError
  [[nodiscard]] Metrics metrics() const { return read_metrics(folder_.metrics()); }
  /// episodes.csv, read anew at each call. @throws ResourceError
  [[nodiscard]] Episodes episodes() const { return read_episodes(folder_.episodes()); }

  /// The process that writes to this run, or to the run that contains this part; nothing if there
  /// is none. A process of another machine counts as running, because this machine cannot see it.
  /// Does not take the lock.
  [[nodiscard]] std::optional<LockHolder> holder() const;
  /// @throws DataError naming the file if the summary is damaged
  [[nodiscard]] RunStatus status() const;
  /// The status in the summary, even while a process holds the lock; kDead without a summary.
  /// @throws DataError as status()
  [[nodiscard]] RunStatus written_status() const;

 private:
  RunFolder folder_;
  std::filesystem::path lock_;
  bool is_part_ = false;
};

/// The folders of runs root/NAME/TIME that were last written to, the newest first. Empty if `root`
/// does not exist.
std::vector<std::filesystem::path> newest_runs(const std::filesystem::path& root,
                                               std::size_t at_most);

}  // namespace traffic::report
