/// The vehicles on the road and what follows from where they are: leaders, conflicts ahead, queues,
/// scores.
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

/// Conditions before one stop line at this moment.
struct ApproachState {
  int vehicles = 0;           ///< whose next conflict this is
  int queue = 0;              ///< those of them slower than kQueueSpeedMps
  int backlog = 0;            ///< waiting to enter the network towards it
  double near_density = 0;    ///< veh/km/lane over the last kNearLineM
  double near_speed_mps = 0;  ///< mean speed there; the speed limit when it is empty
  int passed_30s = 0;         ///< crossed the stop line in the last 30 s
  int lanes_held = 0;         ///< lanes whose first CV is under control
};

struct ConflictState {
  std::vector<ApproachState> approaches;
  double zone_density = 0;    ///< veh/km/lane
  double zone_speed_mps = 0;  ///< mean; the speed limit when it is empty
  double downstream_density = 0;
  double downstream_speed_mps = 0;
};

inline constexpr double kQueueSpeedMps = 5.0;
inline constexpr double kNearLineM = 200.0;
inline constexpr double kRecentS = 30.0;

/// What happened in a step, besides the vehicles' motion.
struct StepEvents {
  double time_s = 0;                      ///< since the start of the episode, after the step
  std::vector<const RoutePlan*> waiting;  ///< one entry a vehicle that wants to enter and cannot
  std::vector<LightState> lights;         ///< [Road::lights]
  int collisions = 0;
  int emergency_stops = 0;
  int teleports = 0;
};

/// Vehicles by lane, from the lane's start to its end.
struct LaneOrder {
  std::vector<std::int32_t> ptr;      ///< [lanes + 1]
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

  /// Forgets all vehicles and scores. end_s: end of the episode; 0 when it has none.
  void reset(double step_length_s, double end_s);
  /// A vehicle that has entered the road; its id is larger than all before.
  void depart(const Vehicle& vehicle);
  /// A vehicle that has reached the end of its route.
  void arrive(std::uint32_t id) { leave(id, true); }
  /// A vehicle that departed and arrived within one step.
  void pass_through();
  /// A vehicle that was taken off the road before the end of its route.
  void remove(std::uint32_t id) { leave(id, false); }
  /// Derives everything from the vehicles' lanes, positions and speeds.
  /// Invalidates indices and pointers of vehicles.
  void update(const StepEvents& events);

  [[nodiscard]] const Road& road() const { return *road_; }
  [[nodiscard]] double time_s() const { return time_s_; }
  [[nodiscard]] double step_length_s() const { return step_length_s_; }
  [[nodiscard]] double end_s() const { return end_s_; }
  /// On the road now, sorted by id; vehicle i is node i of a frame.
  [[nodiscard]] std::span<Vehicle> vehicles() { return vehicles_; }
  [[nodiscard]] std::span<const Vehicle> vehicles() const { return vehicles_; }
  /// Departed, not arrived, and not on the road now (lane -1).
  [[nodiscard]] std::span<Vehicle> away() { return away_; }
  /// Also among those that are away; null when it has left.
  [[nodiscard]] Vehicle* find(std::uint32_t id);
  [[nodiscard]] const Vehicle* find(std::uint32_t id) const;
  [[nodiscard]] const LaneOrder& lane_order() const { return order_; }
  [[nodiscard]] std::span<const ConflictState> conflicts() const { return conflicts_; }
  [[nodiscard]] std::span<const LightState> lights() const { return lights_; }
  [[nodiscard]] int waiting() const { return static_cast<int>(score_.waiting); }
  [[nodiscard]] int arrived_30s() const { return static_cast<int>(arrivals_.size()); }
  /// Whether the first CV before the stop line of this lane is under control.
  [[nodiscard]] bool lane_held(int stop_lane) const {
    return lane_held_[static_cast<std::size_t>(stop_lane)] != 0;
  }

  [[nodiscard]] const EpisodeScore& score() const { return score_; }
  [[nodiscard]] EpisodeScore& score() { return score_; }
  /// Part of the numerator that belongs to a conflict, since the start of the episode: what
  /// vehicles covered while it was their next conflict, plus the rest of their route when they
  /// passed it.
  [[nodiscard]] std::span<const double> conflict_numerators() const { return conflict_numerators_; }
  /// Part of EpisodeScore::lost_s() that belongs to a conflict: of vehicles before it or waiting to
  /// enter towards it and, with none ahead, in its zone or the stretch behind that.
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
  double time_loss_s(const Vehicle& vehicle) const;
  void note_losses(const StepEvents& events);

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
};

}  // namespace traffic::scene
