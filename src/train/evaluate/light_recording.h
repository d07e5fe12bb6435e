/// Records the states of the traffic lights in an episode, for the replay page.
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
  /// All changes as a JSON list: [[time in s, index of the light, its state from that time on],
  /// ...]. The state is a string with a letter for each link, as in SUMO.
  [[nodiscard]] nlohmann::ordered_json changes() const;

 private:
  struct Change {
    double time_s;
    std::size_t light;
    std::string state;
  };
  std::vector<Change> changes_;
  std::vector<std::string> shown_;  ///< [lights] the state of each light at the last call of add()
};

/// The stop lines of all lanes that end at a light, as a JSON list. Each entry has the index of the
/// light, the links of this light that begin at the lane, and the two ends of the line in metres.
nlohmann::ordered_json stop_lines(const scene::Road& road);

}  // namespace traffic::train
