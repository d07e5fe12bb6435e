/// A controller in a simulation: asked at its times, and what it commands is carried out, or only
/// told.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "traffic/scene/controller.h"
#include "traffic/sim/sumo_env.h"

namespace traffic::sim {

class ControllerDriver {
 public:
  enum class Role : std::uint8_t {
    kDrives,   ///< what it commands is carried out
    kAdvises,  ///< somebody else drives, and it says what it would do
  };
  /// An episode has begun in `sumo`: its first decision is due now. Traffic lights are taken over
  /// if it sets them and drives.
  /// @param controller null: nobody acts; else as long as the episode lasts
  void begin(scene::Controller* controller, SumoEnv& sumo, std::uint64_t seed,
             Role role = Role::kDrives);
  /// Before every step of the same simulation: asks if a decision is due.
  /// @return the commands for vehicles, valid until the next call
  std::span<const scene::Command> act(SumoEnv& sumo);

 private:
  scene::Controller* controller_ = nullptr;
  Role role_ = Role::kDrives;
  double next_decision_s_ = 0;
  std::vector<scene::Command> commands_;
  std::vector<scene::SignalCommand> signal_commands_;
};

}  // namespace traffic::sim
