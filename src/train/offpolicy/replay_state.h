/// A replay in the checkpoints of a run: each rank's segments as parts beside them, written once.
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

/// What a rank has beside what all have.
class RankState {
 public:
  /// @param replay outlives it
  /// @param stream_ids which of the streams of all ranks this rank's are, where they stay the same
  ///     ones on any number of ranks; empty: streams are nobody's but the rank's
  RankState(replay::Replay& replay, comm::Communicator& communicator,
            std::vector<std::int64_t> stream_ids)
      : replay_(replay), communicator_(communicator), stream_ids_(std::move(stream_ids)) {}

  /// Names each rank's games and segments in the snapshot, and hands out this rank's to be written.
  /// Collective.
  void save_to(checkpoint::Snapshot& snapshot, checkpoint::Bytes games) const;

  struct Restored {
    bool same_ranks = true;   ///< the same number of them; if not, games begin anew
    checkpoint::Bytes games;  ///< of this rank
  };
  /// With as many ranks as there were, each has what it had, to the bit; else streams go with their
  /// ids, and where they have none what all had is dealt out anew.
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
  /// Names of full segments, by their number in the replay.
  mutable std::map<std::int64_t, std::string> known_names_;
};

}  // namespace traffic::train::offpolicy
