/// The checkpoints of a run: one folder, file names that say the step, old ones removed, damaged
/// ones passed over.
///
///   step-000001234.h5   every save; the newest `keep_last` stay
///   best.h5             the best one so far
///   phase1.h5 ...       the best one of a phase that has ended
///
///   parts/              files that they name (parts.h)
///   left-behind-000000800/   what was newer than step 800 when a run went back to it
///
/// These are hard links to a step's file where the file system has them, else copies.
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

/// A checkpoint that was passed over, and why.
struct Rejected {
  std::filesystem::path path;
  std::string reason;
};

/// What to go on from. Without a snapshot there was no checkpoint at all.
struct ResumePoint {
  std::optional<Snapshot> snapshot;
  std::filesystem::path path;
  std::vector<Rejected> rejected;  ///< newer ones that are damaged; the caller logs them
};

/// Not thread-safe. Only one process may write to a folder: hold its RunLock.
class CheckpointManager {
 public:
  /// Creates the folder and removes what saves of dead processes left unfinished.
  /// @param keep_last at least 1
  /// @param result name of the training's result: <result>.h5
  /// @throws ResourceError
  CheckpointManager(std::filesystem::path dir, std::int64_t keep_last, std::string result);
  ~CheckpointManager();
  CheckpointManager(const CheckpointManager&) = delete;
  CheckpointManager& operator=(const CheckpointManager&) = delete;

  /// Saves under the step of the checkpoint, then removes old ones. The parts that it names are to
  /// be there.
  /// @param best whether it becomes best.h5 as well. That is one operation: whatever interrupts
  ///     it, the newest checkpoint never speaks of a best one that is not there.
  /// @return the file
  /// @throws ResourceError; every checkpoint is then as it was, or the new one in its place
  std::filesystem::path save_step(const FileImage& image, bool best = false);
  /// Makes best.h5 of a checkpoint that has no file of its own.
  /// @throws ResourceError
  void save_best(const FileImage& image);
  /// Removes the parts that no checkpoint names any more. No rank may write parts of the next
  /// checkpoint meanwhile. Files that are no checkpoints, or damaged ones, keep no parts.
  /// @return those files, each only the first time; the caller logs them
  /// @throws ResourceError
  std::vector<Rejected> remove_unnamed_parts();
  /// Before going on from `origin` with checkpoints here that do not lead to it: those of later
  /// steps (all, if `origin` is of another folder) are moved into a folder of their own, where
  /// neither pruning nor newest_valid() takes them for this run's.
  /// @return that folder; empty if there was nothing to move
  /// @throws ResourceError, CheckpointError if the step of `origin` cannot be read
  std::filesystem::path leave_behind(const std::filesystem::path& origin);
  /// Before going on from `origin`, a checkpoint of another folder: the best one so far is then
  /// that folder's, or `origin` itself where it came alone. Leaves a best one that is here already.
  void take_best_along(const std::filesystem::path& origin);
  /// Makes the best one the training's result.
  std::filesystem::path mark_result();

  /// The newest checkpoint that is whole, be it a step's, the best or a result; "newest" is by
  /// step, never by the clock.
  /// @throws CheckpointError if there are checkpoints but none is whole: a run never starts anew
  /// silently
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

/// Finds out before training whether saving will work: creates the folder, asks for room for
/// `num_files` files of `bytes_per_file`, writes, renames and removes a real file.
/// @throws ResourceError with the cause and what to do
void check_folder(const std::filesystem::path& dir, std::int64_t bytes_per_file,
                  std::int64_t num_files);

}  // namespace traffic::checkpoint
