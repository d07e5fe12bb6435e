/// The replay of a rank: it stores the rank's experience, draws batches from it, and is saved
/// beside checkpoints.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "offpolicy/batch_memory.h"
#include "offpolicy/replay_state.h"
#include "offpolicy/settings.h"
#include "traffic/comm/communicator.h"
#include "traffic/core/random.h"
#include "traffic/core/random_streams.h"
#include "traffic/replay/replay.h"

namespace traffic::train::offpolicy {

/// A replay, with the memory for its batches and the object that saves it.
class RankReplay {
 public:
  /// The settings and the ranks that a replay belongs to.
  struct Setting {
    const OffPolicy& learning;
    std::uint64_t seed = 0;  ///< seed of the run
    comm::Communicator& communicator;
  };
  /// Number and shape of the streams that this rank stores. A stream is the sequence of steps of
  /// one environment or agent.
  struct Streams {
    std::int64_t count = 1;
    std::vector<std::int64_t> ids = {};  ///< numbers of the streams, see RankState
    std::int64_t obs_dim = 1;
    std::int64_t action_dim = 0;
  };
  /// @param setting its references must outlive this object
  /// @throws ResourceError if the replay does not fit into memory
  RankReplay(const Setting& setting, const Streams& streams);

  void push(const replay::Step& step) { replay_.push(step); }
  /// Marks that the next step does not continue the previous one (replay::Replay::begin_anew()).
  void begin_anew() { replay_.begin_anew(); }
  [[nodiscard]] std::int64_t num_transitions() const { return replay_.size(); }
  /// Collective. Number of transitions of the rank that has the fewest.
  [[nodiscard]] std::int64_t least_transitions() const;
  /// Collective. Number of transitions, summed over all ranks.
  [[nodiscard]] std::int64_t all_transitions() const;
  /// Draws this rank's batch. The result is valid until the next call.
  const Batch& draw(Rng& rng);

  /// A generator for this rank, derived from the run's seed, the stream and a number.
  [[nodiscard]] Rng rng_of(RandomStream stream, std::int64_t number) const;

  /// Memory in bytes when the replay is full.
  [[nodiscard]] std::int64_t bytes() const { return replay_.options().bytes(); }
  /// Bytes of the part files beside a checkpoint, summed over all ranks.
  [[nodiscard]] std::int64_t bytes_of_parts() const {
    return bytes() * setting_.communicator.size();
  }
  /// Collective.
  /// @param rest further state of this rank, such as its games
  void save_to(checkpoint::Snapshot& snapshot, checkpoint::Bytes rest) const {
    rank_state_.save_to(snapshot, std::move(rest));
  }
  /// Not collective: another rank may fail. Call it within together().
  /// @throws CheckpointError if a part is missing, damaged or of another shape
  RankState::Restored restore_from(const checkpoint::Snapshot& snapshot) {
    return rank_state_.restore_from(snapshot);
  }

 private:
  static replay::ReplayOptions options_of(const Setting& setting, const Streams& streams);

  Setting setting_;
  replay::Replay replay_;
  RankState rank_state_;
  BatchMemory batch_;
};

}  // namespace traffic::train::offpolicy
