/// SignalReader reads the traffic lights of a simulation, and sets them.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "simulator.h"
#include "traffic/scene/signal.h"
#include "traffic/scene/signal_book.h"

namespace traffic::sim {

class SignalReader {
 public:
  /// Called after every load.
  /// @param simulator must outlive this object
  /// @param ids SUMO's ids of the lights, in the order in which read() returns the lights
  void reset(Simulator& simulator, const std::vector<std::string>& ids);
  /// Reads the present state of each light.
  /// @param time_s SUMO's time
  void read(double time_s, std::vector<scene::LightState>& lights);
  /// The greens of the programs that run now, by light.
  [[nodiscard]] std::vector<scene::SignalPlan> plans() const;
  /// Carries out changes. A change either gives a light a state, which ends the light's program:
  /// the light shows this state until the next change. Or it sets how much longer the present phase
  /// of the program lasts.
  void set(std::span<const scene::SignalChange> changes);
  /// Lets the programs run again that set() has ended.
  void hand_back();

 private:
  struct Light {
    std::string id;
    std::string program_id;
    std::optional<scene::SignalProgram> program;  ///< nothing if its next phases are not known
    bool is_set = false;                          ///< set() gave it a state; no program runs
  };
  void read_program(Light& light);
  Simulator* simulator_ = nullptr;
  std::vector<Light> lights_;
};

}  // namespace traffic::sim
