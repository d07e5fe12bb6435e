/// What is seen of an episode: where each vehicle was and how fast, what the lights showed, and how
/// the road did. What the replay and the pictures of the report are drawn from.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "evaluate/light_recording.h"
#include "traffic/scene/road_state.h"

namespace traffic::train {

/// Grows by one frame a second of simulated time; of episodes so long or full that this would be
/// more than kMostSamples places of vehicles, by fewer.
class Recording {
 public:
  explicit Recording(const scene::Road& road);

  /// To be called after each step.
  void add(const scene::RoadState& state);

  /// Lanes as lines in metres, the stop lines of those with a light, and the rectangle that holds
  /// them.
  [[nodiscard]] nlohmann::ordered_json network() const;
  /// Places, speeds and marks of all vehicles, changes of the lights.
  [[nodiscard]] nlohmann::ordered_json tracks() const;
  /// Queues and arrivals over time; mean speed over time and distance along the routes that most
  /// vehicles take.
  [[nodiscard]] nlohmann::ordered_json figures() const;

  static constexpr std::size_t kMostSamples = 400'000;

 private:
  struct Sample {
    std::uint32_t vehicle;
    int edge;  ///< it is on, or enters next
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
