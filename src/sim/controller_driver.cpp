// Calls a controller whenever its decision is due, and passes its commands to the simulation.
#include "traffic/sim/controller_driver.h"

#include "traffic/scene/control_period.h"

namespace traffic::sim {

void ControllerDriver::begin(scene::Controller* controller, SumoEnv& sumo, std::uint64_t seed,
                             Role role) {
  controller_ = controller;
  role_ = role;
  if (controller_ == nullptr) return;
  controller_->reset(seed);
  if (role_ == Role::kDrives && controller_->sets_signals()) {
    sumo.take_signals(controller_->signal_mode());
  }
  next_decision_s_ = sumo.time_s();
}

std::span<const scene::Command> ControllerDriver::act(SumoEnv& sumo) {
  commands_.clear();
  signal_commands_.clear();
  has_decided_ =
      controller_ != nullptr && sumo.time_s() >= next_decision_s_ - scene::kTimeTolerance_s;
  if (!has_decided_) return commands_;
  controller_->decide(sumo.state(), commands_);
  next_decision_s_ += controller_->period_s();
  if (role_ == Role::kAdvises) return commands_;
  sumo.apply(commands_);
  if (controller_->sets_signals()) {
    controller_->decide_signals(sumo.signals(), signal_commands_);
    sumo.apply(signal_commands_);
  }
  return commands_;
}

}  // namespace traffic::sim
