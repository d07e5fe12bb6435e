/// The state of one vehicle. RoadState (road_state.h) holds a Vehicle for each vehicle on the road.
///
/// The owner of the RoadState is the SUMO environment or a reader of recorded trajectories. It
/// writes the first two groups of members. RoadState::update() derives the last group from them.
#pragma once

#include <cstdint>

#include "traffic/scene/route_plan.h"
#include "traffic/scene/shield.h"

namespace traffic::scene {

/// Maximum distance in metres to a leader or follower.
inline constexpr double kLeaderReachM = 100.0;

/// Emissions and consumption of vehicles, by SUMO's emission models.
struct Emissions {
  double co2_g = 0;
  double fuel_g = 0;          ///< ml with SUMO's option --emissions.volumetric-fuel
  double electricity_wh = 0;  ///< less than 0 if a braking vehicle recovers more than it needs

  Emissions& operator+=(const Emissions& more) {
    co2_g += more.co2_g;
    fuel_g += more.fuel_g;
    electricity_wh += more.electricity_wh;
    return *this;
  }
  friend Emissions operator+(Emissions a, const Emissions& b) { return a += b; }
  friend Emissions operator*(double factor, const Emissions& of) {
    return {factor * of.co2_g, factor * of.fuel_g, factor * of.electricity_wh};
  }
};

struct Vehicle {
  // Written by the owner when the vehicle departs.
  std::uint32_t id = 0;  ///< number in the order of departure
  const RoutePlan* plan = nullptr;
  bool is_cv = false;  ///< connected vehicle: may get commands
  double length_m = 5.0;
  double min_gap_m = 2.5;
  Ability ability{1.5, 4.5};
  double max_speed_mps = 1e3;
  double speed_factor = 1.0;  ///< desired speed of the driver divided by the speed limit
  double driven_m = 0;        ///< distance that it had driven on its route when the owner first
                              ///< saw it
  Emissions idle_per_s{};     ///< emissions per second while it stands with its engine running

  // Written by the owner before every call of RoadState::update().
  int lane = -1;  ///< index into Road::lanes; -1: on no lane of its route now (teleporting,
                  ///< parked, overtaking on a lane of the opposite direction)
  double lane_pos_m = 0;
  double speed_mps = 0;
  double time_loss_s = 0;  ///< time that it has lost so far, as SUMO's trip information counts it
  Emissions step_emissions{};  ///< in the last step; 0 if they are not measured
  double step_driven_m = 0;    ///< distance that it drove in the last step

  // Written by CommandBook (action.h).
  bool commanded = false;        ///< under control: a command is in force
  double committed_until_s = 0;  ///< simulated time at which the command in force ends

  // Derived by RoadState::update.
  double accel_mps2 = 0;
  int route_index = 0;  ///< index of its edge in RoutePlan::edges; inside a junction, index of the
                        ///< edge that it enters next
  double edge_pos_m = 0;    ///< position on that edge; negative inside the junction before it
  double depart_pos_m = 0;  ///< position on its route where it entered
  double progress = 0;      ///< distance covered / route length, in [0, 1]
  int conflict = -1;        ///< next conflict on its route; -1: none
  int approach = -1;        ///< approach of that conflict from which it comes
  int stop_lane = -1;       ///< lane with the next stop line to which its own lane leads; -1: none
  double line_m = 0;        ///< distance to that stop line
  double lane_end_m = 0;    ///< distance that it can drive on its route without a lane change
  int passed = -1;          ///< passed conflict in whose zone or downstream road it is; -1: none
  bool in_zone = false;     ///< whether it is in the zone of `passed`, not downstream
  int leader = -1;          ///< index of the next vehicle on its path; -1: none within reach
  double leader_gap_m = 0;  ///< bumper to bumper; kLeaderReachM when there is none
  int follower = -1;        ///< index of the nearest vehicle whose leader this is
  double follower_gap_m = 0;  ///< bumper to bumper; kLeaderReachM when there is none
  bool first_cv = false;      ///< whether it is a CV with no other CV before it on the way to
                              ///< the stop line
  int ahead = 0;              ///< number of vehicles ahead of it with the same stop_lane
  int behind = 0;             ///< number of vehicles behind it with the same stop_lane
  bool braking = false;       ///< brakes harder than kHardBrakeMps2
  bool unsafe = false;        ///< headway or time-to-collision is below a limit of ShieldLimits
  bool fresh = true;          ///< whether it has departed since the last update
  double previous_speed_mps = 0;
  double step_loss_s = 0;     ///< growth of time_loss_s in the last step
  double counted_loss_s = 0;  ///< part of time_loss_s that the scores already include
};

/// A deceleration above this value counts as hard braking.
inline constexpr double kHardBrakeMps2 = 3.0;

}  // namespace traffic::scene
