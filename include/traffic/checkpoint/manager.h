/// The folder of a run's checkpoints: saves each in a file named after its step, removes old ones
/// and skips damaged ones.
///
///   step-000001234.h5        every save; the newest `keep_last` stay
///   best.h5                  the best checkpoint so far
///   phase1.h5 ...            the best checkpoint of a training that has ended
///   parts/                   part files that the checkpoints name (parts.h)
///   left-behind-000000800/   checkpoints newer than step 800, when a run went back to that step
///
/// best.h5 and phase1.h5 are hard links to a step's file, or copies on file systems without links.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "traffic/checkpoint/file.h"
#include "traffic/checkpoint/snapshot.h"

namespace traffic::checkpoint {

class PartFolder;

/// A checkpoint that was skipped, and why.
struct Rejected {
  std::filesystem::path path;
  std::string reason;
};

/// The checkpoint to resume from. It has no snapshot if the folder has no checkpoint.
struct ResumePoint {
  std::optional<Snapshot> snapshot;
  std::filesystem::path path;
  std::vector<Rejected> rejected;  ///< newer checkpoints that are damaged; the caller logs them
};

/// Not thread-safe. Only one process may write to a folder: hold its RunLock.
class CheckpointManager {
 public:
  /// Creates the folder and removes unfinished files of dead processes.
  /// @param keep_last at least 1
  /// @param result name of the training's result: <result>.h5
  /// @throws ResourceError
  CheckpointManager(std::filesystem::path dir, std::int64_t keep_last, std::string result);
  ~CheckpointManager();
  CheckpointManager(const CheckpointManager&) = delete;
  CheckpointManager& operator=(const CheckpointManager&) = delete;

  /// Saves a checkpoint under its step, then removes old ones. Its parts must be written already.
  /// @param best whether the checkpoint becomes best.h5 as well. It is then written as best.h5
  /// first, so that no step's file refers to a best checkpoint that is missing after an
  /// interruption.
  /// @return the file
  /// @throws ResourceError; every file is then either unchanged or complete
  std::filesystem::path save_step(const FileImage& image, bool best = false);
  /// Saves a checkpoint as best.h5 only.
  /// @throws ResourceError
  void save_best(const FileImage& image);
  /// Removes the parts that no checkpoint names any more. No rank may write parts of the next
  /// checkpoint meanwhile. Damaged checkpoints, and files that are no checkpoints, do not protect
  /// the parts that they name.
  /// @return the damaged checkpoints and the files that are no checkpoints, each only the first
  ///   time; the caller logs them
  /// @throws ResourceError
  std::vector<Rejected> remove_unnamed_parts();
  /// Call it before resuming from `origin`. Moves the checkpoints of later steps, or all of them if
  /// `origin` is in another folder, into a folder left-behind-... There neither pruning nor
  /// newest_valid() sees them.
  /// @return that folder; empty if there was nothing to move
  /// @throws ResourceError, CheckpointError if the step of `origin` cannot be read
  std::filesystem::path leave_behind(const std::filesystem::path& origin);
  /// Call it before resuming from `origin`, a checkpoint of another folder. Copies that folder's
  /// best.h5, or `origin` itself if there is none, unless this folder has a best.h5 already.
  void take_best_along(const std::filesystem::path& origin);
  /// Makes best.h5 the result of the training. @return the result's file
  std::filesystem::path mark_result();

  /// Returns the newest undamaged checkpoint: that of a step, the best one or a result. The step,
  /// not the time of the file, decides which one is newest.
  /// @throws CheckpointError if there are checkpoints but all are damaged, so that a run never
  ///   silently starts from scratch
  [[nodiscard]] ResumePoint newest_valid() const;

  /// Steps that have a file of their own, newest first.
  [[nodiscard]] std::vector<std::int64_t> steps() const;
  [[nodiscard]] std::filesystem::path step_path(std::int64_t step) const;
  [[nodiscard]] std::filesystem::path best_path() const { return dir_ / "best.h5"; }
  [[nodiscard]] std::filesystem::path result_path() const;
  [[nodiscard]] const std::filesystem::path& dir() const { return dir_; }

 private:
  void write(const FileImage& image, const std::filesystem::path& path);
  void prune() const;

  std::filesystem::path dir_;
  std::int64_t keep_last_;
  std::string result_;
  std::unique_ptr<PartFolder> part_folder_;
};

/// Counts saves that failed in a row, and gives up at a limit.
class SaveFailures {
 public:
  /// @param limit failures in a row at which failed() throws; at least 1
  explicit SaveFailures(std::int64_t limit);
  void succeeded() { in_a_row_ = 0; }
  /// @throws ResourceError at the limit
  void failed(const std::string& reason);
  [[nodiscard]] std::int64_t in_a_row() const { return in_a_row_; }
  [[nodiscard]] std::int64_t total() const { return total_; }

 private:
  std::int64_t limit_;
  std::int64_t in_a_row_ = 0;
  std::int64_t total_ = 0;
};

/// Checks before training that checkpoints can be saved: creates the folder, requires room for
/// `num_files` files of `bytes_per_file`, and writes, renames and removes a file.
/// @throws ResourceError with the cause and what to do
void check_folder(const std::filesystem::path& dir, std::int64_t bytes_per_file,
                  std::int64_t num_files);

}  // namespace traffic::checkpoint
