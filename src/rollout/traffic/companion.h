/// Companion, the scripted controller named by env.beside. It acts in the same simulation as the
/// policy that is trained, on the agents that the policy does not control.
#pragma once

#include <cstdint>
#include <memory>

#include "traffic/config/config.h"
#include "traffic/scene/controller.h"
#include "traffic/sim/controller_driver.h"

namespace traffic::rollout {

/// Each simulation has one Companion. It does nothing if env.beside is empty.
class Companion {
 public:
  explicit Companion(const config::Config& config);

  /// Call it when an episode has begun in the simulation.
  void begin(sim::SumoEnv& sumo, std::uint64_t seed) {
    driver_.begin(controller_.get(), sumo, seed);
  }
  /// Call it before every step of the simulation.
  void act(sim::SumoEnv& sumo) { driver_.act(sumo); }

 private:
  std::unique_ptr<scene::Controller> controller_;  ///< null if env.beside is empty
  sim::ControllerDriver driver_;
};

}  // namespace traffic::rollout
