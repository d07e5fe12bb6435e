/// What the traffic lights of an episode showed.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "traffic/scene/road_state.h"

namespace traffic::train {

class LightRecording {
 public:
  /// To be called after each step.
  void add(const scene::RoadState& state);
  /// [[time in s, light, letters of its links from then on], ...]
  [[nodiscard]] nlohmann::ordered_json changes() const;

 private:
  struct Change {
    double time_s;
    std::size_t light;
    std::string state;
  };
  std::vector<Change> changes_;
  std::vector<std::string> shown_;  ///< [lights] at present
};

/// Across the end of each lane that has a light: where it is, and which of the light's links it
/// leads to.
nlohmann::ordered_json stop_lines(const scene::Road& road);

}  // namespace traffic::train
