/// The services that a training and its loop use: the run folder, metrics, checkpoints, and access
/// to the ranks.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "traffic/checkpoint/manager.h"
#include "traffic/checkpoint/saver.h"
#include "traffic/config/config.h"
#include "traffic/config/trainings.h"
#include "traffic/core/error.h"
#include "traffic/report/metrics.h"
#include "traffic/report/run_folder.h"
#include "traffic/report/summary.h"
#include "traffic/train/run/job.h"
#include "traffic/train/run/origin.h"

namespace traffic::train {

/// How a training ended.
enum class TrainingEnd { kDone, kStopped };
/// Exit code of the program.
constexpr ExitCode exit_code(TrainingEnd end) {
  return end == TrainingEnd::kDone ? ExitCode::kDone : ExitCode::kStopped;
}

/// Each rank has one object for each training. Call every function on all ranks. Only rank 0 writes
/// checkpoints, metrics and the summary.
class Run {
 public:
  /// Collective. Finds the checkpoint to resume from.
  /// @param config configuration of the training that run.phase names
  /// @param dir the run folder or a folder below it
  /// @throws ResourceError, CheckpointError
  Run(Job& job, const config::Config& config, const std::filesystem::path& dir);

  [[nodiscard]] const config::Config& config() const { return config_; }
  /// Name, folder and other constant facts of the training of this run.
  [[nodiscard]] const config::TrainingFacts& facts() const { return facts_; }
  [[nodiscard]] comm::Communicator& communicator() { return job_.communicator(); }
  [[nodiscard]] const comm::MpiSession& session() const { return job_.session(); }
  [[nodiscard]] bool is_reporter() const { return job_.is_reporter(); }
  [[nodiscard]] const std::filesystem::path& dir() const { return folder_.root(); }

  /// Whether there is no checkpoint to resume from; the same on all ranks.
  [[nodiscard]] bool is_new() const { return resume_path_.empty(); }
  /// Path of the checkpoint to resume from; empty for a new run.
  [[nodiscard]] const std::filesystem::path& resume_path() const { return resume_path_; }
  /// Loads the checkpoint to resume from, on every rank, and opens the metrics; returns nothing for
  /// a new run.
  [[nodiscard]] std::optional<checkpoint::Snapshot> take_resume_point();
  /// Records in the checkpoint which run and which program wrote it.
  void sign(checkpoint::Snapshot& snapshot) const;

  /// Writes one line of metrics for a step.
  void write_metrics(std::int64_t step, const report::NamedValues& values);

  /// Checks that the disk has room for this run's checkpoints. Call it before the first training
  /// step.
  /// @throws ResourceError on all ranks
  void check_room(std::int64_t bytes_per_checkpoint);
  /// Begins to save a checkpoint. It returns when the values are copied; then a thread of rank 0
  /// writes them. A failure is logged and counted. Training goes on until too many saves in a row
  /// have failed.
  /// @param best whether the parameters are the best so far
  /// @throws ResourceError on all ranks if too many saves in a row have failed
  void save(const checkpoint::Snapshot& snapshot, bool best);
  /// Whether too many saves in a row have failed; only rank 0 can return true. If so, call
  /// wait_for_saves() on all ranks, which throws the error. Not collective, and fast.
  [[nodiscard]] bool has_given_up_saving();
  /// Waits for the save in progress.
  /// @return the newest saved step, or the step resumed from; the same on all ranks
  /// @throws ResourceError on all ranks if too many saves have failed
  std::optional<std::int64_t> wait_for_saves();
  /// Waits until the best checkpoint so far is written to best_path(), and copies it to nodes that
  /// do not see it.
  /// @throws ResourceError on all ranks if it cannot be saved
  void wait_for_best();
  /// Path of the best checkpoint so far; the same on all ranks.
  [[nodiscard]] std::filesystem::path best_path() const;
  /// Marks the best checkpoint as the result of the training, so that it is kept.
  /// @throws ResourceError on all ranks
  void keep_result();

  /// Adds the entries common to all trainings and writes summary.json. Collective.
  void write_summary(report::Summary summary);

 private:
  /// Called on rank 0. @return empty for a new run
  std::string find_resume_point();
  std::string write_parts(const checkpoint::Snapshot& snapshot);

  Job& job_;
  config::Config config_;
  const config::TrainingFacts& facts_;
  report::RunFolder folder_;
  /// Path of the checkpoint to resume from; empty for a new run.
  std::filesystem::path resume_path_;
  std::unique_ptr<checkpoint::CheckpointManager> checkpoints_;
  std::unique_ptr<checkpoint::Saver> saver_;  ///< like checkpoints_, set on rank 0 only
  std::optional<std::int64_t> resumed_step_;
  Origin origin_;
  std::unique_ptr<report::Scalars> scalars_;
};

}  // namespace traffic::train
