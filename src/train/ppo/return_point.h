/// The best controller of a training, to go back to when training unlearns.
#pragma once

#include <cstdint>
#include <optional>

#include "ppo/learner.h"
#include "ppo/trained_lights.h"
#include "traffic/checkpoint/snapshot.h"
#include "traffic/config/config.h"

namespace traffic::train {

/// Weights, optimisers and value of the learner as they stood. It is part of every checkpoint, so
/// that a resumed run goes back to the same bits.
class ReturnPoint {
 public:
  explicit ReturnPoint(const config::Training& training) : training_(training) {}

  /// @param lights that learn as well; null: none
  void keep(const Learner& learner, const TrainedLights* lights = nullptr);
  /// Gives the learner what was kept, and smaller steps.
  /// @return whether that is still allowed
  bool go_back(Learner& learner, TrainedLights* lights = nullptr);
  [[nodiscard]] std::int64_t rollbacks() const { return rollbacks_; }

  void save_to(checkpoint::Snapshot& snapshot) const;
  /// Also gives the learner its steps.
  void restore_from(const checkpoint::Snapshot& snapshot, Learner& learner);

 private:
  [[nodiscard]] double step_factor() const;

  config::Training training_;
  std::optional<checkpoint::Snapshot> kept_;
  std::int64_t rollbacks_ = 0;
};

}  // namespace traffic::train
