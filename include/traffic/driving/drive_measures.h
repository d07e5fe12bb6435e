/// Measures how a vehicle is driven: progress, collisions, lights, lanes, distances, comfort.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "traffic/driving/driver.h"
#include "traffic/driving/road_index.h"
#include "traffic/driving/route_tracker.h"

namespace traffic::driving {

/// What happened to a vehicle while it was driven.
struct DriveMeasures {
  double seconds = 0.0;
  double driven_m = 0.0;
  double progress_m = 0.0;      ///< along the route
  std::int64_t collisions = 0;  ///< other vehicles that it touched
  std::int64_t faults = 0;      ///< collisions that its driver caused
  double off_lane_s = 0.0;      ///< time in which its centre was on no lane of its direction
  std::int64_t red_lights = 0;  ///< times that it passed a stop line at red
  /// Time in which it would have touched a vehicle ahead within a second if both had kept speed and
  /// direction.
  double close_s = 0.0;
  double uncomfortable_s = 0.0;  ///< time with accelerations or jerk beyond ComfortLimits
  bool is_arrived = false;       ///< whether it reached the end of its route
  bool is_lost = false;          ///< whether it was removed because it was too far from its route
};

/// A drive beyond these limits is uncomfortable. SUMO's own cars may brake with 4.5 m/s2.
struct ComfortLimits {
  double accel_mps2 = 3.0;
  double lateral_accel_mps2 = 4.0;
  double jerk_mps3 = 8.0;
};

/// A score between 0 and 1, after the PDM score of NAVSIM. It is 0 if the vehicle caused a
/// collision, passed a red light, was off its lanes for more than a second, or was lost. Otherwise
/// it is (5 * open + 5 * progress + 2 * comfort) / 12 with these shares:
/// - open: share of the time that does not count in close_s
/// - progress: progress_m / reference_m, at most 1
/// - comfort: share of the time within ComfortLimits
/// @param reference_m progress of SUMO's own driver in the same traffic
[[nodiscard]] double drive_score(const DriveMeasures& measures, double reference_m);

/// Another vehicle near the measured one.
struct Neighbour {
  std::uint32_t id = 0;
  Box box;
};

/// Measures one vehicle, the ego, while it is driven.
class DriveMeter {
 public:
  /// @param roads must outlive this object
  /// @param route edges of the map from the vehicle's present edge on
  DriveMeter(const RoadIndex& roads, std::span<const std::int32_t> route, const Box& ego);

  /// Measures a step of the simulation.
  /// @param ego the vehicle after the step
  /// @param near all vehicles whose centres are within kReach_m
  /// @param signals [RoadMap::signals] SUMO's letter for the state of each signal
  void step(double step_s, const Box& ego, std::span<const Neighbour> near,
            std::span<const std::uint8_t> signals);
  /// Notes that the vehicle has left the simulation at the end of its route.
  void arrive() { measures_.is_arrived = true; }
  /// Notes that the vehicle was taken off the road because it was too far from its route.
  void lose() { measures_.is_lost = true; }

  [[nodiscard]] const DriveMeasures& measures() const { return measures_; }
  [[nodiscard]] const RouteTracker& route() const { return route_; }

  /// A vehicle whose centre is farther away cannot be touched within a second.
  static constexpr double kReach_m = 60.0;

 private:
  void note_collisions(const Box& ego, std::span<const Neighbour> near);
  [[nodiscard]] bool is_at_fault(const Box& ego, const Box& other) const;
  void note_red_light(const Box& ego, std::span<const std::uint8_t> signals);
  void note_frame(const Box& ego, std::span<const Neighbour> near);

  const RoadIndex& roads_;
  RouteTracker route_;
  DriveMeasures measures_;
  Box last_;        ///< the vehicle after the last step
  Box last_frame_;  ///< the vehicle at the end of the last frame, which lasts kFrame_s
  bool is_first_step_ = true;
  double since_frame_s_ = 0.0;
  std::optional<double> last_accel_mps2_;  ///< mean acceleration over the last frame
  std::set<std::uint32_t> touched_;
};

}  // namespace traffic::driving
