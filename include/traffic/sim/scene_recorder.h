/// Records scenes from which a driving policy learns: positions and headings of all vehicles, their
/// routes, and the lights.
///
///     driving::RecordedScene record(sim::SceneRecorder& recorder, std::uint64_t seed) {
///       for (recorder.begin(seed); !recorder.done();) recorder.advance();
///       return recorder.take();
///     }
#pragma once

#include <cstdint>
#include <memory>

#include "traffic/driving/recorded_scene.h"
#include "traffic/sim/sumo_env.h"

namespace traffic::sim {

/// Step of SUMO in recordings of scenes. It is so short that vehicles move and change lanes
/// smoothly.
inline constexpr double kSceneStep_s = 0.1;
/// Steps between two frames of a scene.
inline constexpr int kStepsPerFrame = 5;

/// A simulation in which SUMO drives all vehicles, with steps of kSceneStep_s and with lateral
/// positions within the lanes, whatever the scenario says. A process can have only one object of
/// the classes SceneRecorder, SumoEnv and DrivingEnv at a time. Not thread-safe.
class SceneRecorder {
 public:
  /// @param options only scenario, sumo_args, demand_factor and max_time_s have an effect
  explicit SceneRecorder(const EnvOptions& options);
  ~SceneRecorder();
  SceneRecorder(const SceneRecorder&) = delete;
  SceneRecorder& operator=(const SceneRecorder&) = delete;

  /// Multiplies the scenario's demand from the next episode on.
  void set_demand_factor(double factor);
  /// Begins an episode.
  /// @throws DataError with SUMO's own message if the scenario cannot be loaded, or if its network
  /// has no lane for cars
  void begin(std::uint64_t seed);
  /// Simulates until the time of the next frame, and records this frame.
  /// @throws DataError with SUMO's own message when the simulation fails
  void advance();
  /// Whether the episode has reached its end; without an end, whether all vehicles have arrived.
  [[nodiscard]] bool done() const;
  /// Hands over the scene that was recorded since begin(). The episode ends with this call.
  [[nodiscard]] driving::RecordedScene take();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace traffic::sim
