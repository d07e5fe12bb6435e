/// The scripted controller that acts beside the trained controller (env.beside).
#pragma once

#include <cstdint>
#include <memory>

#include "traffic/config/config.h"
#include "traffic/scene/controller.h"
#include "traffic/sim/controller_driver.h"

namespace traffic::rollout {

/// Each simulation has one. Without env.beside it does nothing.
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
  std::unique_ptr<scene::Controller> controller_;  ///< null: none
  sim::ControllerDriver driver_;
};

}  // namespace traffic::rollout
