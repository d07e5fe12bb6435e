/// Stores the state of the best controller of a training. The training returns to it when an
/// evaluation shows that the gain has fallen (training.max_rollbacks).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "traffic/checkpoint/snapshot.h"
#include "traffic/config/config.h"
#include "traffic/train/agents/agent.h"

namespace traffic::train {

/// Stores the weights and optimisers of all agents at the best evaluation. Every checkpoint
/// contains them, so that a resumed run returns to bit-identical weights.
class ReturnPoint {
 public:
  using Agents = std::vector<std::unique_ptr<Agent>>;

  explicit ReturnPoint(const config::Training& settings) : settings_(settings) {}

  /// Stores the current state of the agents. Does nothing if training.max_rollbacks is 0.
  void keep(const Agents& agents);
  /// Restores the stored state of the agents and lowers their learning rates.
  /// @return false if no state is stored, or if the training has already returned
  ///   training.max_rollbacks times; the agents are then unchanged
  bool go_back(const Agents& agents);
  /// Number of times that the training has returned.
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
