/// A vehicle on the road: values that the owner of the RoadState writes (the SUMO environment, or a
/// reader of recorded trajectories), and values that RoadState derives.
#pragma once

#include <cstdint>

#include "traffic/scene/route_plan.h"
#include "traffic/scene/shield.h"

namespace traffic::scene {

/// Maximum distance of leaders and followers.
inline constexpr double kLeaderReachM = 100.0;

struct Vehicle {
  // Written by the owner when it departs.
  std::uint32_t id = 0;  ///< number in the order of departure
  const RoutePlan* plan = nullptr;
  bool is_cv = false;
  double length_m = 5.0;
  double min_gap_m = 2.5;
  Ability ability{1.5, 4.5};
  double max_speed_mps = 1e3;
  double speed_factor = 1.0;  ///< desired speed of the driver divided by the speed limit
  double driven_m = 0;        ///< distance along its route before the owner first saw it

  // Written by the owner before every update.
  int lane = -1;  ///< may lie inside a junction; -1: on no lane of its route now (teleporting,
                  ///< parked, overtaking on a lane of the opposite direction)
  double lane_pos_m = 0;
  double speed_mps = 0;
  double time_loss_s = 0;  ///< time that it has lost so far, as SUMO's trip information counts it

  // Written by the command book.
  bool commanded = false;        ///< under control
  double committed_until_s = 0;  ///< end of the command in force

  // Derived by RoadState::update.
  double accel_mps2 = 0;
  int route_index = 0;    ///< index of its edge; inside a junction, of the edge that it enters next
  double edge_pos_m = 0;  ///< on that edge; negative inside the junction before it
  double depart_pos_m = 0;    ///< where it entered, as distance along its route
  double progress = 0;        ///< distance covered / route length, in [0, 1]
  int conflict = -1;          ///< next one on its route; -1: none
  int approach = -1;          ///< of that conflict
  int stop_lane = -1;         ///< lane of the stop line to which its own lane leads
  double line_m = 0;          ///< distance to that stop line
  double lane_end_m = 0;      ///< distance to where its lane leaves its route
  int passed = -1;            ///< conflict in whose zone or downstream stretch it is; -1: none
  bool in_zone = false;       ///< in the zone of `passed`, not downstream of it
  int leader = -1;            ///< index of the next vehicle on its path; -1: none within reach
  double leader_gap_m = 0;    ///< bumper to bumper; kLeaderReachM when there is none
  int follower = -1;          ///< index of the nearest vehicle whose leader this is
  double follower_gap_m = 0;  ///< bumper to bumper; kLeaderReachM when there is none
  bool first_cv = false;      ///< a CV with none between it and the stop line on its lane
  int ahead = 0;              ///< vehicles between it and the stop line on its lane
  int behind = 0;             ///< vehicles behind it that lead to the same lane of the stop line
  bool braking = false;       ///< harder than kHardBrakeMps2
  bool unsafe = false;        ///< under a threshold of the shield
  bool fresh = true;          ///< departed since the last update
  double previous_speed_mps = 0;
  double step_loss_s = 0;     ///< growth of time_loss_s in the last step
  double counted_loss_s = 0;  ///< part of time_loss_s that the scores contain
};

inline constexpr double kHardBrakeMps2 = 3.0;

}  // namespace traffic::scene
