/// The controller that acts beside the one that is trained (env.beside).
#pragma once

#include <memory>
#include <vector>

#include "traffic/config/config.h"
#include "traffic/scene/controller.h"
#include "traffic/sim/sumo_env.h"

namespace traffic::rollout {

/// One a simulation; without env.beside it does nothing.
class Companion {
 public:
  explicit Companion(const config::Config& config);

  /// An episode has begun in it.
  void begin(sim::SumoEnv& sumo, std::uint64_t seed);
  /// Before every step: commands what is due.
  void act(sim::SumoEnv& sumo);

 private:
  std::unique_ptr<scene::Controller> controller_;  ///< null: none
  double next_decision_s_ = 0;
  std::vector<scene::Command> commands_;
  std::vector<scene::SignalCommand> signal_commands_;
};

}  // namespace traffic::rollout
