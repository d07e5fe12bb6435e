/// Records an episode of an evaluation: positions and speeds of the vehicles, states of the lights,
/// queues and arrivals. The replay page and the diagrams of the report are drawn from the
/// recording.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "evaluate/light_recording.h"
#include "traffic/scene/road_state.h"

namespace traffic::train {

/// A frame is the state of all vehicles at one time, with one sample per vehicle. The class records
/// one frame per second of simulated time. Whenever it has more than kMaxSamples samples, it drops
/// every second frame and from then on records half as often.
class Recording {
 public:
  explicit Recording(const scene::Road& road);

  /// Records the state if a frame is due. Call it after each step.
  void add(const scene::RoadState& state);

  /// Lanes as lines in metres, the stop lines at lights, and the rectangle around all lanes.
  [[nodiscard]] nlohmann::ordered_json network() const;
  /// Positions and speeds of all vehicles, whether each vehicle was under control, and changes of
  /// the lights.
  [[nodiscard]] nlohmann::ordered_json tracks() const;
  /// Queues and arrivals over time, and the mean speed over time and distance along the routes that
  /// most vehicles take.
  [[nodiscard]] nlohmann::ordered_json figures() const;

  static constexpr std::size_t kMaxSamples = 400'000;

 private:
  struct Sample {
    std::uint32_t vehicle;
    int edge;  ///< edge of its route that the vehicle is on or, at a junction, enters next
    float edge_pos_m;
    float x_m;
    float y_m;
    float speed_mps;
    bool commanded;
  };
  struct Frame {
    double time_s;
    std::int64_t waiting;
    std::int64_t arrived;
    std::vector<Sample> samples;
  };
  struct Seen {
    const scene::RoutePlan* plan;  ///< lives as long as the simulation
    bool is_cv;
  };

  void thin();
  [[nodiscard]] std::vector<const scene::RoutePlan*> main_routes() const;
  [[nodiscard]] nlohmann::ordered_json speed_along(const scene::RoutePlan& plan) const;

  const scene::Road& road_;
  double frame_s_ = 1.0;
  double next_s_ = 0.0;
  std::size_t num_samples_ = 0;
  std::vector<Frame> frames_;
  std::map<std::uint32_t, Seen> vehicles_;
  LightRecording lights_;
};

}  // namespace traffic::train
