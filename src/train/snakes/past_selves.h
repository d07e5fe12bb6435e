/// Stores copies of the policy from earlier in the training (past selves), which play as opponents.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <deque>

#include "offpolicy/acting.h"
#include "snakes/settings.h"
#include "traffic/checkpoint/snapshot.h"

namespace traffic::train::snakes {

/// All ranks store the same copies. Each rank picks which copy plays in its games.
class PastSelves {
 public:
  /// @param policy the policy to copy; this object shares its network
  PastSelves(const Snakes& settings, const offpolicy::ActingNetwork& policy);

  [[nodiscard]] bool empty() const { return kept_.empty(); }
  /// Stores a copy of the policy if one is due (game.pool_interval). Drops the oldest copy if there
  /// are more than game.pool_size.
  /// @param before, after number of episodes of all ranks before and after the round
  void keep(std::int64_t before, std::int64_t after);
  /// Selects the copy that plays, by a random number. There must be at least one copy.
  void pick(std::uint64_t number) { pick_index(static_cast<std::size_t>(number % kept_.size())); }
  /// The selected copy.
  [[nodiscard]] offpolicy::ActingNetwork& playing() { return playing_; }

  void save_to(checkpoint::Snapshot& snapshot) const;
  void restore_from(const checkpoint::Snapshot& snapshot);

 private:
  void pick_index(std::size_t index);
  [[nodiscard]] torch::Tensor flat_policy() const;

  Snakes settings_;
  offpolicy::ActingNetwork policy_;
  offpolicy::ActingNetwork playing_;
  std::deque<torch::Tensor> kept_;  ///< a flat tensor of all parameters for each copy, oldest first
};

}  // namespace traffic::train::snakes
