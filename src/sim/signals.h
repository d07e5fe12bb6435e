/// Reads the traffic lights of the running simulation.
#pragma once

#include <string>
#include <vector>

#include "traffic/scene/signal.h"

namespace traffic::sim {

class SignalReader {
 public:
  /// Called after every load. @param ids of the lights, in the order of read()'s result
  void reset(const std::vector<std::string>& ids);
  /// @param time_s SUMO's time
  void read(double time_s, std::vector<scene::LightState>& lights);

 private:
  struct Light {
    std::string id;
    std::string program_id;
    std::vector<scene::SignalProgram> program;  ///< one, or none when SUMO lists no phases
  };
  static void read_program(Light& light);
  std::vector<Light> lights_;
};

}  // namespace traffic::sim
