/// The best controller of a training, to which the training returns when the gain falls.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "traffic/checkpoint/snapshot.h"
#include "traffic/config/config.h"
#include "traffic/train/agents/agent.h"

namespace traffic::train {

/// Keeps the weights and optimisers of all agents at the best evaluation. They are part of every
/// checkpoint, so that a resumed run returns to the same bits.
class ReturnPoint {
 public:
  using Agents = std::vector<std::unique_ptr<Agent>>;

  explicit ReturnPoint(const config::Training& settings) : settings_(settings) {}

  /// Keeps the current state of the agents; does nothing if training.max_rollbacks is 0.
  void keep(const Agents& agents);
  /// Restores the kept state of the agents and lowers their learning rates.
  /// @return false if nothing is kept, or if the training has already returned
  ///   training.max_rollbacks times; then the agents are unchanged
  bool go_back(const Agents& agents);
  [[nodiscard]] std::int64_t rollbacks() const { return rollbacks_; }
  /// Factor on the learning rates: training.rollback_factor to the power of rollbacks().
  [[nodiscard]] double step_factor() const;

  void save_to(checkpoint::Snapshot& snapshot) const;
  /// Also sets the factor on the learning rates of the agents.
  void restore_from(const checkpoint::Snapshot& snapshot, const Agents& agents);

 private:
  config::Training settings_;
  std::optional<checkpoint::Snapshot> kept_;
  std::int64_t rollbacks_ = 0;
};

}  // namespace traffic::train
