/// What a training needs beside what it learns: ranks, a folder, figures, checkpoints.
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
/// What the program ends with.
constexpr ExitCode exit_code(TrainingEnd end) {
  return end == TrainingEnd::kDone ? ExitCode::kDone : ExitCode::kStopped;
}

/// One a rank and training. Everything that only one rank may do (write checkpoints, figures, the
/// summary) is done by rank 0 inside; callers call it on all ranks.
class Run {
 public:
  /// Collective. Finds the checkpoint to go on from.
  /// @param config of the training, named by run.phase
  /// @param dir the folder of the job or one below it
  /// @throws ResourceError, CheckpointError
  Run(Job& job, const config::Config& config, const std::filesystem::path& dir);

  [[nodiscard]] const config::Config& config() const { return config_; }
  /// Of the training that it is a run of.
  [[nodiscard]] const config::TrainingFacts& facts() const { return facts_; }
  [[nodiscard]] comm::Communicator& communicator() { return job_.communicator(); }
  [[nodiscard]] const comm::MpiSession& session() const { return job_.session(); }
  [[nodiscard]] bool is_reporter() const { return job_.is_reporter(); }
  [[nodiscard]] const std::filesystem::path& dir() const { return folder_.root(); }

  /// Whether it has no checkpoint to go on from; the same on all ranks.
  [[nodiscard]] bool is_new() const { return resume_path_.empty(); }
  /// Empty for a new run.
  [[nodiscard]] const std::filesystem::path& resume_path() const { return resume_path_; }
  /// The checkpoint to go on from, loaded by every rank; nothing for a new run.
  [[nodiscard]] std::optional<checkpoint::Snapshot> take_resume_point();
  /// Puts down which run a checkpoint is of and what made it.
  void sign(checkpoint::Snapshot& snapshot) const;

  /// One line of figures at a step.
  void write_metrics(std::int64_t step, const report::NamedValues& values);

  /// Refuses a disk without room for the checkpoints of this run, before any work is done.
  /// @throws ResourceError on all ranks
  void check_room(std::int64_t bytes_per_checkpoint);
  /// Begins to save: returns when the values are copied, a thread of rank 0 does the rest. A
  /// failure is logged and counted; training goes on until there were too many in a row.
  /// @param best whether it is the best so far
  /// @throws ResourceError on all ranks if there were too many
  void save(const checkpoint::Snapshot& snapshot, bool best);
  /// Whether saves of this rank have failed too often: then wait_for_saves() on all ranks. Neither
  /// collective nor slow.
  [[nodiscard]] bool has_given_up_saving();
  /// Waits for the save in flight.
  /// @return the newest step that is saved, or gone on from; the same on all ranks
  /// @throws ResourceError on all ranks if too many have failed
  std::optional<std::int64_t> wait_for_saves();
  /// Until best_path() is the best so far.
  /// @throws ResourceError on all ranks if it cannot be saved
  void wait_for_best();
  /// Path of the best checkpoint so far; the same on all ranks.
  [[nodiscard]] std::filesystem::path best_path() const;
  /// Keeps the best checkpoint as the result of the training.
  /// @throws ResourceError on all ranks
  void keep_result();

  /// Fills in what is common to all trainings and writes summary.json. Collective.
  void write_summary(report::Summary summary);

 private:
  /// On rank 0. @return empty: a new run
  std::string find_resume_point();
  std::string write_parts(const checkpoint::Snapshot& snapshot);

  Job& job_;
  config::Config config_;
  const config::TrainingFacts& facts_;
  report::RunFolder folder_;
  std::filesystem::path resume_path_;  ///< empty: a new run
  std::unique_ptr<checkpoint::CheckpointManager> checkpoints_;
  std::unique_ptr<checkpoint::Saver> saver_;  ///< of rank 0, as checkpoints_
  std::optional<std::int64_t> resumed_step_;
  Origin origin_;
  std::unique_ptr<report::Scalars> scalars_;
};

}  // namespace traffic::train
