#include "companion.h"

#include "traffic/scene/control_period.h"
#include "traffic/sim/env_options.h"

namespace traffic::rollout {

Companion::Companion(const config::Config& config) {
  if (config.env.beside.empty()) return;
  controller_ =
      scene::make_controller(config.env.beside, {.top_k = static_cast<int>(config.controller.top_k),
                                                 .period_s = config.env.control_period_s,
                                                 .candidates = sim::candidate_rule(config)});
}

void Companion::begin(sim::SumoEnv& sumo, std::uint64_t seed) {
  if (!controller_) return;
  controller_->reset(seed);
  if (controller_->sets_signals()) sumo.take_signals();
  next_decision_s_ = sumo.time_s();
}

void Companion::act(sim::SumoEnv& sumo) {
  if (!controller_ || sumo.time_s() < next_decision_s_ - scene::kTimeTolerance_s) return;
  commands_.clear();
  controller_->decide(sumo.state(), commands_);
  sumo.apply(commands_);
  if (controller_->sets_signals()) {
    signal_commands_.clear();
    controller_->decide_signals(sumo.signals(), signal_commands_);
    sumo.apply(signal_commands_);
  }
  next_decision_s_ += controller_->period_s();
}

}  // namespace traffic::rollout
