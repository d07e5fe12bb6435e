/// The controller that acts beside the one that is trained (env.beside).
#pragma once

#include <cstdint>
#include <memory>

#include "traffic/config/config.h"
#include "traffic/scene/controller.h"
#include "traffic/sim/controller_driver.h"

namespace traffic::rollout {

/// One a simulation; without env.beside it does nothing.
class Companion {
 public:
  explicit Companion(const config::Config& config);

  /// An episode has begun in it.
  void begin(sim::SumoEnv& sumo, std::uint64_t seed) {
    driver_.begin(controller_.get(), sumo, seed);
  }
  /// Before every step.
  void act(sim::SumoEnv& sumo) { driver_.act(sumo); }

 private:
  std::unique_ptr<scene::Controller> controller_;  ///< null: none
  sim::ControllerDriver driver_;
};

}  // namespace traffic::rollout
