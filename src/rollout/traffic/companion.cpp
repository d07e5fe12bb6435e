// Makes the scripted controller that env.beside names (companion.h).
#include "companion.h"

#include "traffic/sim/env_options.h"

namespace traffic::rollout {

Companion::Companion(const config::Config& config) {
  if (config.env.beside.empty()) return;
  controller_ = scene::make_controller(config.env.beside, sim::controller_options(config));
}

}  // namespace traffic::rollout
