/// Reads the traffic lights of the running simulation, and sets them.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "traffic/scene/signal.h"
#include "traffic/scene/signal_book.h"

namespace traffic::sim {

class SignalReader {
 public:
  /// Called after every load. @param ids of the lights, in the order of read()'s result
  void reset(const std::vector<std::string>& ids);
  /// @param time_s SUMO's time
  void read(double time_s, std::vector<scene::LightState>& lights);
  /// What the programs that run now allow to show, by light.
  [[nodiscard]] std::vector<scene::SignalPlan> plans() const;
  /// Ends the lights' programs: they show this until they are set again.
  void set(std::span<const scene::SignalChange> changes);

 private:
  struct Light {
    std::string id;
    std::string program_id;
    std::vector<scene::SignalProgram> program;  ///< one, or none when SUMO lists no phases
    bool is_set = false;                        ///< by set(), so that no program runs
  };
  static void read_program(Light& light);
  [[nodiscard]] static std::vector<scene::SignalPhase> phases_of(const Light& light);
  std::vector<Light> lights_;
};

}  // namespace traffic::sim
