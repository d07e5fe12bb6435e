/// The policy as it was at several times, to be played against.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <deque>

#include "offpolicy/acting.h"
#include "snakes/settings.h"
#include "traffic/checkpoint/snapshot.h"

namespace traffic::train::snakes {

/// The same on all ranks, but for which of them plays.
class PastSelves {
 public:
  /// @param policy what is kept of; its shape is that of all
  PastSelves(const Snakes& settings, const offpolicy::ActingNetwork& policy);

  [[nodiscard]] bool empty() const { return kept_.empty(); }
  /// Keeps the policy, if it is time for it.
  /// @param before, after episodes of all ranks
  void keep(std::int64_t before, std::int64_t after);
  /// One of them plays from now on. There must be one.
  void pick(std::uint64_t number) { pick_index(static_cast<std::size_t>(number % kept_.size())); }
  [[nodiscard]] offpolicy::ActingNetwork& playing() { return playing_; }

  void save_to(checkpoint::Snapshot& snapshot) const;
  void restore_from(const checkpoint::Snapshot& snapshot);

 private:
  void pick_index(std::size_t index);
  [[nodiscard]] torch::Tensor flat_policy() const;

  Snakes settings_;
  offpolicy::ActingNetwork policy_;
  offpolicy::ActingNetwork playing_;
  std::deque<torch::Tensor> kept_;  ///< all parameters one after the other
};

}  // namespace traffic::train::snakes
