/// Saves the replays of all ranks with a checkpoint, and restores them. A replay consists of
/// segments, blocks of consecutive steps. Each segment becomes a part file beside the checkpoint. A
/// full segment is written only once, even if many checkpoints refer to it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "traffic/checkpoint/snapshot.h"
#include "traffic/comm/communicator.h"
#include "traffic/replay/replay.h"

namespace traffic::train::offpolicy {

/// The part of the training state that differs between ranks: the replay and, for example, games.
class RankState {
 public:
  /// @param replay must outlive this object
  /// @param stream_ids numbers of this rank's streams, if the same streams exist with any number of
  ///   ranks, such as one stream for each simulation. Empty if every rank has its own streams
  RankState(replay::Replay& replay, comm::Communicator& communicator,
            std::vector<std::int64_t> stream_ids)
      : replay_(replay), communicator_(communicator), stream_ids_(std::move(stream_ids)) {}

  /// Collective. Adds the games and segments of this rank to the parts of the snapshot. The names
  /// of the parts of all ranks are stored in the snapshot itself.
  void save_to(checkpoint::Snapshot& snapshot, checkpoint::Bytes games) const;

  /// Result of restore_from().
  struct Restored {
    bool same_ranks = true;   ///< the checkpoint was saved by the same number of ranks
    checkpoint::Bytes games;  ///< games of this rank; empty if the number of ranks differs
  };
  /// Restores this rank's state exactly if the number of ranks is the same. Otherwise each rank
  /// gets the streams of its stream_ids. If there are no stream_ids, it gets an equal share of all
  /// full segments.
  /// @throws CheckpointError if a part is missing, damaged or of another shape
  Restored restore_from(const checkpoint::Snapshot& snapshot);

 private:
  [[nodiscard]] std::size_t max_segments() const;
  void restore_own(const checkpoint::Snapshot& snapshot);
  void deal_out(const checkpoint::Snapshot& snapshot, int num_ranks_before);
  void gather_streams(const checkpoint::Snapshot& snapshot, int num_ranks_before);

  replay::Replay& replay_;
  comm::Communicator& communicator_;
  std::vector<std::int64_t> stream_ids_;
  /// Part names of full segments, by the segments' numbers in the replay.
  mutable std::map<std::int64_t, std::string> known_names_;
};

}  // namespace traffic::train::offpolicy
