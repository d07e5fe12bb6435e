/// The best controller of a training, to go back to when training unlearns.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "agents/agent.h"
#include "traffic/checkpoint/snapshot.h"
#include "traffic/config/config.h"

namespace traffic::train {

/// Keeps the weights and optimisers of all agents as they stood at the best evaluation. It is part
/// of every checkpoint, so that a resumed run goes back to the same bits.
class ReturnPoint {
 public:
  using Agents = std::vector<std::unique_ptr<Agent>>;

  explicit ReturnPoint(const config::Training& settings) : settings_(settings) {}

  void keep(const Agents& agents);
  /// Gives the agents what was kept, and smaller steps.
  /// @return false if training has gone back as often as training.max_rollbacks allows
  bool go_back(const Agents& agents);
  [[nodiscard]] std::int64_t rollbacks() const { return rollbacks_; }
  /// Factor on the learning rates after all the times that training went back.
  [[nodiscard]] double step_factor() const;

  void save_to(checkpoint::Snapshot& snapshot) const;
  /// Also gives the agents their steps.
  void restore_from(const checkpoint::Snapshot& snapshot, const Agents& agents);

 private:
  config::Training settings_;
  std::optional<checkpoint::Snapshot> kept_;
  std::int64_t rollbacks_ = 0;
};

}  // namespace traffic::train
