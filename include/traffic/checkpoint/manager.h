/// CheckpointManager manages the folder of a run's checkpoints. It saves each checkpoint in a file
/// named after its step, removes old files, and skips damaged files when a run resumes.
///
///   step-000001234.h5        a checkpoint of step 1234; only the newest `keep_last` files stay
///   best.h5                  the best checkpoint so far
///   phase1.h5 ...            the best checkpoint of a training that has ended
///   parts/                   large data in files of their own, named in checkpoints (parts.h)
///   left-behind-000000800/   checkpoints of later steps, moved when a run resumed from step 800
///
/// Files with equal content, e.g. best.h5 and phase1.h5, are hard links of one file. On a file
/// system without hard links they are copies.
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

/// Not thread-safe. Only one process may write to a folder, so the caller must hold the RunLock of
/// the run's folder.
class CheckpointManager {
 public:
  /// Creates the folder and removes unfinished files of dead processes.
  /// @param keep_last at least 1
  /// @param result name of the training's result, e.g. "phase1" for the file phase1.h5
  /// @throws ResourceError if the folder cannot be created
  CheckpointManager(std::filesystem::path dir, std::int64_t keep_last, std::string result);
  ~CheckpointManager();
  CheckpointManager(const CheckpointManager&) = delete;
  CheckpointManager& operator=(const CheckpointManager&) = delete;

  /// Saves a checkpoint under its step, then removes old checkpoints. The caller must have written
  /// its parts (write_parts() in parts.h).
  /// @param best whether the checkpoint becomes best.h5 as well. The function then writes best.h5
  ///   before the file of the step. If the program dies in between, best.h5 is the newest
  ///   checkpoint
  /// @return the path of the step's file
  /// @throws ResourceError if a file cannot be written; every file is then either unchanged or
  ///   complete
  std::filesystem::path save_step(const FileImage& image, bool best = false);
  /// Saves a checkpoint as best.h5 only.
  /// @throws ResourceError if the file cannot be written
  void save_best(const FileImage& image);
  /// Removes the part files that no checkpoint names any more. No rank may write parts of the next
  /// checkpoint meanwhile. Parts that only damaged checkpoints name are removed, too.
  /// @return the files and folders that could not be read as checkpoints, each only the first time;
  ///   the caller logs them
  /// @throws ResourceError if a folder cannot be read or a part cannot be removed
  std::vector<Rejected> remove_unnamed_parts();
  /// Call it before resuming from the checkpoint `origin`. Moves the checkpoints of later steps
  /// into a new folder left-behind-..., where neither save_step() nor newest_valid() sees them. If
  /// `origin` is in another folder, moves all checkpoints.
  /// @return the new folder; empty if there was nothing to move
  /// @throws CheckpointError if the step of `origin` cannot be read
  /// @throws ResourceError if a file cannot be moved
  std::filesystem::path leave_behind(const std::filesystem::path& origin);
  /// Call it before resuming from `origin`, a checkpoint of another folder. Does nothing if this
  /// folder has a best.h5. Otherwise copies or links best.h5 from the folder of `origin`, or
  /// `origin` itself if that folder has no undamaged best.h5.
  void take_best_along(const std::filesystem::path& origin);
  /// Makes best.h5 the result of the training, e.g. phase1.h5, by a hard link or a copy.
  /// @return path of the result
  std::filesystem::path mark_result();

  /// Returns the newest undamaged checkpoint among the files of steps, best.h5 and the result. The
  /// newest is the one with the highest step; the time of the file does not matter.
  /// @throws CheckpointError if there are checkpoints but all are damaged. Without this error a run
  ///   would silently start from scratch
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

/// Counts saves that failed in a row. Throws when the count reaches a limit.
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

/// Checks before training that checkpoints can be saved. Creates the folder, checks that the disk
/// has space for `num_files` files of `bytes_per_file` bytes, and writes and removes a test file.
/// @throws ResourceError with the cause and what to do
void check_folder(const std::filesystem::path& dir, std::int64_t bytes_per_file,
                  std::int64_t num_files);

}  // namespace traffic::checkpoint
