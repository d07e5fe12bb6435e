/// The replay of a rank: what it has lived through, drawn from into one batch, in checkpoints.
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

class RankReplay {
 public:
  struct Setting {
    const OffPolicy& learning;
    std::uint64_t seed = 0;  ///< of the run
    comm::Communicator& communicator;
  };
  /// Streams of this rank, as segments are made of them.
  struct Streams {
    std::int64_t count = 1;
    std::vector<std::int64_t> ids = {};  ///< as RankState's
    std::int64_t obs_dim = 1;
    std::int64_t action_dim = 0;
  };
  /// Collective. What is in the setting outlives it.
  /// @throws ResourceError if the replay does not fit into memory
  RankReplay(const Setting& setting, const Streams& streams);

  void push(const replay::Step& step) { replay_.push(step); }
  /// What is pushed next does not follow on what is there.
  void begin_anew() { replay_.begin_anew(); }
  [[nodiscard]] std::int64_t num_transitions() const { return replay_.size(); }
  /// Of the rank that has the fewest. Collective, like the next.
  [[nodiscard]] std::int64_t least_transitions() const;
  /// Of all ranks together.
  [[nodiscard]] std::int64_t all_transitions() const;
  /// Draws a batch of this rank, until the next one.
  const Batch& draw(Rng& rng);

  /// Random numbers of this rank.
  [[nodiscard]] Rng rng_of(RandomStream stream, std::int64_t number) const;

  /// Of memory, when it is full.
  [[nodiscard]] std::int64_t bytes() const { return replay_.options().bytes(); }
  /// What parts beside a checkpoint come to, of all ranks.
  [[nodiscard]] std::int64_t bytes_of_parts() const {
    return bytes() * setting_.communicator.size();
  }
  /// Collective, like the next. @param rest what else a rank has to be saved, e.g. its games
  void save_to(checkpoint::Snapshot& snapshot, checkpoint::Bytes rest) const {
    rank_state_.save_to(snapshot, std::move(rest));
  }
  /// @throws CheckpointError
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
