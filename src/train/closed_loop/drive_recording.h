/// A recording of an episode in which egos are driven, for the replay page.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "traffic/driving/driver.h"
#include "traffic/sim/driving_env.h"

namespace traffic::train {

class DriveRecording {
 public:
  /// Records the state, and the plans that were made in it.
  /// @param plans plans of the driven egos; empty if SUMO drives them
  void add(const sim::DrivingEnv& env, std::span<const driving::Plan> plans);

  /// Lanes as lines in metres, stop lines at lights, and the rectangle around all lanes, as in the
  /// replays of controllers.
  [[nodiscard]] static nlohmann::ordered_json network(const driving::RoadMap& map);
  /// Places and speeds of all vehicles, which of them are egos, states of lights, and the plans.
  [[nodiscard]] nlohmann::ordered_json tracks(const driving::RoadMap& map) const;

 private:
  struct Sample {
    std::uint32_t vehicle;
    float x_m;  ///< position of the front bumper
    float y_m;
    float speed_mps;
    bool commanded;  ///< an ego
  };
  struct Frame {
    double time_s;
    std::vector<Sample> samples;
    std::vector<std::vector<driving::Point>> plans;  ///< lines in the network
    std::vector<std::uint8_t> signals;
  };
  std::vector<Frame> frames_;
};

}  // namespace traffic::train
