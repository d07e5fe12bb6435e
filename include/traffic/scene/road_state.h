/// RoadState holds the vehicles of one simulation or recording. It derives leaders, conflicts
/// ahead, queues and scores from their positions and speeds.
///
/// The owner (the SUMO environment, or a reader of recorded trajectories) reports departures,
/// writes lane, position and speed of every vehicle, and calls update() once a step. Not
/// thread-safe.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <vector>

#include "traffic/scene/road.h"
#include "traffic/scene/score.h"
#include "traffic/scene/signal.h"
#include "traffic/scene/vehicle.h"

namespace traffic::scene {

/// Conditions on one approach (before one stop line of a conflict) at this moment.
struct ApproachState {
  int vehicles = 0;           ///< vehicles whose next stop line this is
  int queue = 0;              ///< how many of these vehicles are slower than kQueueSpeedMps
  int backlog = 0;            ///< vehicles that wait to enter the network towards this stop line
  Emissions backlog_per_s{};  ///< emissions per second of these vehicles, whose engines run
  double near_density = 0;    ///< veh/km/lane over the last kNearLineM before the stop line
  double near_speed_mps = 0;  ///< mean speed there; the speed limit when no vehicle is there
  int passed_30s = 0;         ///< vehicles that crossed the stop line in the last kRecentS
  int lanes_held = 0;         ///< lanes whose first connected vehicle (CV) is under control
};

struct ConflictState {
  std::vector<ApproachState> approaches;
  double zone_density = 0;          ///< veh/km/lane
  double zone_speed_mps = 0;        ///< mean speed; the speed limit when the zone is empty
  double downstream_density = 0;    ///< veh/km/lane
  double downstream_speed_mps = 0;  ///< mean speed; the speed limit when no vehicle is there
};

inline constexpr double kQueueSpeedMps = 5.0;
inline constexpr double kNearLineM = 200.0;
inline constexpr double kRecentS = 30.0;  ///< period of passed_30s and arrived_30s

/// A vehicle that wants to enter the road and cannot.
struct WaitingVehicle {
  const RoutePlan* plan = nullptr;  ///< null while the simulator has not found its route
  double waited_s = 0;              ///< time by which its departure delay grew in this step
  Emissions idle_per_s{};           ///< emissions per second while its engine runs
};

/// Inputs of a step besides the positions and speeds of vehicles.
struct StepEvents {
  double time_s = 0;  ///< time since the start of the episode, after the step
  std::vector<WaitingVehicle> waiting;
  int discarded = 0;               ///< vehicles that waited before the step and will never enter
  std::vector<LightState> lights;  ///< [Road::lights]
  int collisions = 0;
  int emergency_stops = 0;
  int emergency_brakes = 0;
  int teleports = 0;
};

/// Vehicles by lane, from the lane's start to its end.
struct LaneOrder {
  std::vector<std::int32_t> ptr;      ///< [lanes + 1] where each lane begins in `vehicle`
  std::vector<std::int32_t> vehicle;  ///< indices into RoadState::vehicles()
  [[nodiscard]] std::span<const std::int32_t> on(int lane) const {
    const auto begin = static_cast<std::size_t>(ptr[static_cast<std::size_t>(lane)]);
    const auto end = static_cast<std::size_t>(ptr[static_cast<std::size_t>(lane) + 1]);
    return std::span(vehicle).subspan(begin, end - begin);
  }
};

class RoadState {
 public:
  explicit RoadState(std::shared_ptr<const Road> road, ShieldLimits limits = {});

  /// Removes all vehicles and resets the scores.
  /// @param end_s simulated time at which the episode ends; 0: it has no end
  void reset(double step_length_s, double end_s);
  /// Adds a vehicle that has entered the road. Its id must be larger than all earlier ids. Scores
  /// count the growth of its time_loss_s from now on.
  /// @param waited_s growth of its departure delay since the last update
  void depart(const Vehicle& vehicle, double waited_s = 0);
  /// Takes out a vehicle that has reached its destination.
  void arrive(std::uint32_t id) { leave(id, true); }
  /// Takes out a vehicle that was removed before it reached its destination.
  void remove(std::uint32_t id) { leave(id, false); }
  /// Counts a vehicle that entered and left within one step.
  /// @param arrived whether it reached its destination
  void pass_through(bool arrived, double time_loss_s, double waited_s);
  /// Ends a step: derives leaders, conflicts and scores from the vehicles' lanes, positions and
  /// speeds. Invalidates indices of vehicles and pointers to them.
  void update(const StepEvents& events);

  [[nodiscard]] const Road& road() const { return *road_; }
  [[nodiscard]] double time_s() const { return time_s_; }
  [[nodiscard]] double step_length_s() const { return step_length_s_; }
  [[nodiscard]] double end_s() const { return end_s_; }
  /// Vehicles on the road now, sorted by id. Vehicle i is node i of a frame.
  [[nodiscard]] std::span<Vehicle> vehicles() { return vehicles_; }
  [[nodiscard]] std::span<const Vehicle> vehicles() const { return vehicles_; }
  /// Vehicles that have not left but are on no lane of their route now (their `lane` is -1).
  [[nodiscard]] std::span<Vehicle> away() { return away_; }
  /// A vehicle on the road or away; null if it has left.
  [[nodiscard]] Vehicle* find(std::uint32_t id);
  [[nodiscard]] const Vehicle* find(std::uint32_t id) const;
  [[nodiscard]] const LaneOrder& lane_order() const { return order_; }
  [[nodiscard]] std::span<const ConflictState> conflicts() const { return conflicts_; }
  [[nodiscard]] std::span<const LightState> lights() const { return lights_; }
  /// Number of vehicles that want to enter the road and cannot.
  [[nodiscard]] int waiting() const { return static_cast<int>(score_.waiting); }
  /// Number of vehicles that reached their destination in the last kRecentS.
  [[nodiscard]] int arrived_30s() const { return static_cast<int>(arrivals_.size()); }
  /// Whether the first CV before the stop line of this lane is under control.
  [[nodiscard]] bool lane_held(int stop_lane) const {
    return lane_held_[static_cast<std::size_t>(stop_lane)] != 0;
  }

  [[nodiscard]] const EpisodeScore& score() const { return score_; }
  [[nodiscard]] EpisodeScore& score() { return score_; }
  /// [conflicts] progress of vehicles that counts for each conflict, since the start of the
  /// episode. The unit is a whole route. A vehicle's progress counts for its next conflict. When
  /// the vehicle passes that conflict, the whole rest of its route counts for it as well.
  [[nodiscard]] std::span<const double> conflict_numerators() const { return conflict_numerators_; }
  /// [conflicts] parts of a term, as in conflict_numerators() and conflict_losses_s(), without the
  /// sign of costs. Emissions and distance count for the same conflict as the time lost.
  [[nodiscard]] std::span<const double> conflict_parts(Term term) const;
  /// [conflicts] parts of EpisodeScore::lost_s(): time lost by vehicles before the conflict or
  /// waiting to enter towards it. Vehicles without a conflict ahead count for the conflict in whose
  /// zone or downstream road they are.
  [[nodiscard]] std::span<const double> conflict_losses_s() const { return conflict_losses_s_; }

 private:
  struct Pass {
    double time_s;
    int conflict;
    int approach;
  };

  void leave(std::uint32_t id, bool arrived);
  void sort_out_away();
  void advance(Vehicle& vehicle);
  void locate(Vehicle& vehicle) const;
  void note_pass(int conflict, int approach, double rest);
  void order_lanes();
  void find_leaders();
  void find_leader_beyond_lane(Vehicle& vehicle) const;
  void rank_before_stop_lines();
  void update_conflicts(const StepEvents& events);
  void tally(const StepEvents& events);
  void take_losses(Vehicle& vehicle);
  void take_delay(const RoutePlan* plan, double waited_s, const Emissions& idle_per_s);

  std::shared_ptr<const Road> road_;
  ShieldLimits limits_;
  double time_s_ = 0;
  double step_length_s_ = 1;
  double end_s_ = 0;
  std::vector<Vehicle> vehicles_;
  std::vector<Vehicle> away_;
  LaneOrder order_;
  std::vector<ConflictState> conflicts_;
  std::vector<LightState> lights_;
  std::vector<char> lane_held_;  ///< [lanes]
  std::deque<Pass> passes_;
  std::deque<double> arrivals_;
  EpisodeScore score_;
  std::vector<double> conflict_numerators_;
  std::vector<double> conflict_losses_s_;
  std::vector<double> conflict_co2_g_;
  std::vector<double> conflict_electricity_wh_;
  std::vector<double> conflict_driven_m_;
};

}  // namespace traffic::scene
