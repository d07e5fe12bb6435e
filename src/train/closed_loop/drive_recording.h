/// Records an episode of an evaluation of drivers for the replay page (replay.html).
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "traffic/driving/driver.h"
#include "traffic/sim/driving_env.h"

namespace traffic::train {

/// Stores the frames of an episode and writes them as JSON.
class DriveRecording {
 public:
  /// Records the current state of the traffic, and the plans of the driver in this state.
  /// @param plans plans of the driven egos; empty if SUMO drives them
  void add(const sim::DrivingEnv& env, std::span<const driving::Plan> plans);

  /// The road network as JSON: lanes as lines in metres, stop lines at lights, and the rectangle
  /// around all lanes. The format is the same as in the replays of controllers.
  [[nodiscard]] static nlohmann::ordered_json network(const driving::RoadMap& map);
  /// The recorded frames as JSON: positions and speeds of all vehicles, states of lights, and
  /// plans.
  [[nodiscard]] nlohmann::ordered_json tracks(const driving::RoadMap& map) const;

 private:
  struct Sample {
    std::uint32_t vehicle;
    float x_m;  ///< position of the front bumper
    float y_m;
    float speed_mps;
    bool commanded;  ///< whether the vehicle is an ego
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
