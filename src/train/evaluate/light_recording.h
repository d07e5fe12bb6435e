/// A recording of the traffic lights' states in an episode.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "traffic/scene/road_state.h"

namespace traffic::train {

class LightRecording {
 public:
  /// Records the states of all lights. Call it after each step.
  void add(const scene::RoadState& state);
  /// All changes: [[time in s, index of the light, its state from then on], ...]. The state has a
  /// letter for each link, as in SUMO.
  [[nodiscard]] nlohmann::ordered_json changes() const;

 private:
  struct Change {
    double time_s;
    std::size_t light;
    std::string state;
  };
  std::vector<Change> changes_;
  std::vector<std::string> shown_;  ///< [lights] the present states
};

/// The stop line of each lane that ends at a light: its two ends in metres, the light, and the
/// links of the light that begin at the lane.
nlohmann::ordered_json stop_lines(const scene::Road& road);

}  // namespace traffic::train
