/// Takes training examples for driving policies from recorded traffic. An example is what a vehicle
/// saw, and the way that it took.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "traffic/driving/driver.h"
#include "traffic/driving/map_index.h"
#include "traffic/driving/recorded_scene.h"

namespace traffic::driving {

/// A vehicle in a frame of a scene. The following frames also contain the vehicle, for the whole
/// time of a plan.
struct ExamplePlace {
  std::int32_t frame = 0;
  std::int32_t vehicle = 0;
};

/// Which vehicles in which frames of a scene are examples.
enum class ExampleRule : std::uint8_t {
  kAll,  ///< all vehicles that the scene contains for the whole time of a plan
  /// The scene consists of sequences of kHistory + kPlanPoints frames. In the first kHistory frames
  /// of a sequence one driver drove, in the others another driver, whose plans are to be learned.
  /// The only examples of a sequence are therefore the vehicles in frame kHistory - 1.
  kCorrections,
};

/// A recorded scene with the ways of its vehicles through the frames. Immutable after construction
/// and thread-safe.
class SceneTracks {
 public:
  explicit SceneTracks(RecordedScene scene, ExampleRule rule = ExampleRule::kAll);

  [[nodiscard]] const RecordedScene& scene() const { return scene_; }
  [[nodiscard]] const MapIndex& map() const { return map_; }
  [[nodiscard]] std::span<const ExamplePlace> places() const { return places_; }
  /// The vehicle in a frame; null if it is not there.
  [[nodiscard]] const SceneNode* find(std::int64_t frame, std::int32_t vehicle) const;
  [[nodiscard]] Box box_of(const SceneNode& node) const;
  [[nodiscard]] std::int64_t num_bytes() const;

 private:
  RecordedScene scene_;
  MapIndex map_;
  std::vector<ExamplePlace> places_;
};

/// A change of the ego's present state. The target of the example leads back to the recorded way.
struct Perturbation {
  float aside_m = 0.0F;      ///< how far the ego is moved to the left
  float heading_rad = 0.0F;  ///< how far the ego is turned counterclockwise
  float speed_mps = 0.0F;    ///< added to the speed
};

/// The input of a policy, and the plan with which the policy should answer. An example owns the
/// memory that its view refers to, so it cannot be copied.
struct Example {
  Example() = default;
  Example(const Example&) = delete;
  Example& operator=(const Example&) = delete;

  View view;
  Plan target;  ///< positions of the vehicle in the next 3 s, relative to view.ego[0]
  std::int32_t vehicle = 0;
  std::array<std::vector<Box>, kHistory> others;
  std::vector<std::int32_t> route;
};

/// Fills an example.
/// @param perturbation if it is all zeros, the example has the recorded state
void make_example(const SceneTracks& tracks, const ExamplePlace& place,
                  const Perturbation& perturbation, Example& example);

}  // namespace traffic::driving
