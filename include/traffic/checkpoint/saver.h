/// Saver saves checkpoints in the background while training continues. A thread hashes and writes
/// one checkpoint at a time. The caller waits only until the values are copied.
#pragma once

#include <cstdint>
#include <functional>
#include <future>
#include <optional>
#include <string>

#include "traffic/checkpoint/file.h"
#include "traffic/checkpoint/manager.h"
#include "traffic/checkpoint/snapshot.h"

namespace traffic::checkpoint {

/// Only one thread may use it. If the best checkpoint cannot be saved, the saver keeps it in memory
/// and saves it before the next checkpoint. The file of a step therefore never refers to a best
/// checkpoint that was not saved.
///
/// The saver counts the saves that failed in a row. When the count reaches max_failures, the saver
/// has given up: begin() and wait() throw from then on.
class Saver {
 public:
  /// The saver calls it for each failed save, in the caller's thread, when a method of the saver
  /// learns of the failure.
  using OnFailure = std::function<void(std::int64_t step, const std::string& why)>;
  /// The saver calls it, in the caller's thread, for each file in the folder of the checkpoints
  /// that cannot be read. Parts (parts.h) of such a file may be removed. Such a file does not make
  /// a save fail.
  using OnRejected = std::function<void(const Rejected& rejected)>;

  /// @param manager must outlive this object; no other code may use it while a save is in flight,
  ///   i.e. while the background thread is working
  /// @param max_failures number of failed saves in a row at which the saver gives up; at least 1
  Saver(CheckpointManager& manager, std::int64_t max_failures, OnFailure on_failure,
        OnRejected on_rejected = {});
  /// Waits for the save in flight.
  ~Saver();
  Saver(const Saver&) = delete;
  Saver& operator=(const Saver&) = delete;

  /// Begins to save. Waits first if another save is in flight.
  /// @param best whether this checkpoint is the best so far
  /// @throws ResourceError if the saver has given up, or if there is no memory for the copy
  void begin(const Snapshot& snapshot, bool best);
  /// Call it instead of begin() if the parts of the checkpoint could not be written. Counts the
  /// save as failed.
  /// @throws ResourceError if the saver has given up, or if there is no memory for the copy
  void give_up_on(const Snapshot& snapshot, bool best, const std::string& why);
  /// Waits until no save is in flight.
  /// @throws ResourceError if the saver has given up
  void wait();
  /// Waits until no save is in flight, then saves the best checkpoint if saving it has failed
  /// before.
  /// @throws ResourceError if the best checkpoint still cannot be saved, or if the saver has given
  ///   up
  void wait_for_best();
  /// Whether too many saves have failed in a row. Does not wait.
  [[nodiscard]] bool has_given_up();

  /// Step of the last successful save whose end this object has noticed; nothing if there is none.
  [[nodiscard]] std::optional<std::int64_t> saved_step() const { return saved_step_; }
  [[nodiscard]] std::int64_t num_failures() const { return failures_.total(); }

 private:
  /// Result of one save in the background thread. It contains the image, because the image must be
  /// destroyed in the caller's thread: HDF5 must not run in the background thread.
  struct Outcome {
    FileImage image;
    bool best = false;  ///< whether the image is the best checkpoint so far
    /// Whether the save also wrote owed_best_ to best.h5.
    bool wrote_owed_best = false;
    std::string why = {};  ///< why the save failed; empty if it succeeded
  };

  [[nodiscard]] Outcome write(FileImage image, bool best) const;
  void collect();
  void note_failure(Outcome outcome);

  CheckpointManager& manager_;
  SaveFailures failures_;
  OnFailure on_failure_;
  OnRejected on_rejected_;
  std::future<Outcome> in_flight_;
  /// The best checkpoint, if saving it has failed; the next save writes it first. It does not
  /// change while a save is in flight.
  std::optional<FileImage> owed_best_;
  std::optional<std::int64_t> saved_step_;
  std::string given_up_because_;
};

}  // namespace traffic::checkpoint
