/// ControllerDriver calls a controller of vehicles, lights or both in a simulation whenever a
/// decision of the controller is due.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "traffic/scene/controller.h"
#include "traffic/sim/sumo_env.h"

namespace traffic::sim {

/// Call begin() at the start of every episode, and act() before every step.
class ControllerDriver {
 public:
  enum class Role : std::uint8_t {
    kDrives,   ///< the simulation carries out the controller's commands
    kAdvises,  ///< act() only returns the controller's commands; another controller drives
  };
  /// Prepares for the episode that has just begun in `sumo`. The first decision is due now. A
  /// controller that drives and sets traffic lights takes the lights over.
  /// @param controller must outlive the episode; null: act() returns no commands
  void begin(scene::Controller* controller, SumoEnv& sumo, std::uint64_t seed,
             Role role = Role::kDrives);
  /// Must be called before every step of the same simulation. Calls the controller if a decision is
  /// due.
  /// @return the commands for vehicles; empty if no decision was due; valid until the next call
  std::span<const scene::Command> act(SumoEnv& sumo);
  /// Whether a decision was due in the last call of act().
  [[nodiscard]] bool has_decided() const { return has_decided_; }
  /// The commands for lights of the last call of act(); valid until the next call.
  [[nodiscard]] std::span<const scene::SignalCommand> signal_commands() const {
    return signal_commands_;
  }

 private:
  scene::Controller* controller_ = nullptr;
  Role role_ = Role::kDrives;
  double next_decision_s_ = 0;
  bool has_decided_ = false;
  std::vector<scene::Command> commands_;
  std::vector<scene::SignalCommand> signal_commands_;
};

}  // namespace traffic::sim
