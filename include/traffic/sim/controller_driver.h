/// A controller in a simulation: asked at its times, and what it commands is carried out.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "traffic/scene/controller.h"
#include "traffic/sim/sumo_env.h"

namespace traffic::sim {

class ControllerDriver {
 public:
  /// An episode has begun in `sumo`: its first decision is due now. Traffic lights are taken over
  /// if it sets them.
  /// @param controller null: nobody acts; else as long as the episode lasts
  void begin(scene::Controller* controller, SumoEnv& sumo, std::uint64_t seed);
  /// Before every step of the same simulation: asks if a decision is due.
  /// @return the commands for vehicles, valid until the next call
  std::span<const scene::Command> act(SumoEnv& sumo);

 private:
  scene::Controller* controller_ = nullptr;
  double next_decision_s_ = 0;
  std::vector<scene::Command> commands_;
  std::vector<scene::SignalCommand> signal_commands_;
};

}  // namespace traffic::sim
