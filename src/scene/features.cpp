// The tables of features that frame.h declares: name, unit, offset, scale and meaning of each
// column.
#include <algorithm>
#include <array>

#include "columns.h"
#include "traffic/core/error.h"
#include "traffic/scene/frame.h"

namespace traffic::scene {
namespace {

// In these texts, "it" is the vehicle. "The conflict" is the conflict ahead on its route. If there
// is none within 400 m and the vehicle is in or after the zone of a passed conflict, "the conflict"
// is the passed conflict. The conflicting approaches are those whose streams the vehicle's own
// stream meets. For a vehicle that has passed the stop line, all approaches of the conflict are
// conflicting.
constexpr std::array<FeatureSpec, kNumNodeColumns> kNode = {{
    {"position_m", "m", 0, 1000, "distance covered along the route"},
    {"speed_mps", "m/s", 0, 30, "speed"},
    {"acceleration_mps2", "m/s2", 0, 3, "acceleration in the last step"},
    {"lane_index", "1", 0, 2, "lane, 0 is the rightmost"},
    {"remaining_m", "m", 0, 1000, "distance to the end of the route"},
    {"completion", "1", 0, 1, "distance covered divided by the route length"},
    {"is_cv", "1", 0, 1, "connected vehicle"},
    {"time_sin", "1", 0, 1, "sine of the time; the period is one hour"},
    {"time_cos", "1", 0, 1, "cosine of the time; the period is one hour"},
    {"speed_limit_mps", "m/s", 0, 30, "speed limit of its lane"},
    {"speed_ratio", "1", 0, 1, "speed divided by the speed limit"},
    {"line_distance_m", "m", 0, 400, "distance to the next stop line, at most 400"},
    {"line_near_m", "m", 0, 100, "distance to the next stop line, at most 100"},
    {"on_minor", "1", 0, 1, "before a stop line, on an approach that gives way or ends"},
    {"on_major", "1", 0, 1, "before a stop line, on an approach that has priority"},
    {"in_zone", "1", 0, 1, "in the zone of a conflict"},
    {"downstream", "1", 0, 1, "after the zone of a conflict"},
    {"first_cv", "1", 0, 1, "CV with no other CV between it and its stop line"},
    {"vehicles_ahead", "1", 0, 10, "vehicles between it and the stop line on its lane"},
    {"vehicles_behind", "1", 0, 10,
     "vehicles behind it that approach the stop line on the same lane"},
    {"lane_end_m", "m", 0, 400, "distance for which its lane follows its route, at most 400"},
    {"lane_ends", "1", 0, 1, "lane_end_m is under 400 m"},
    {"leader_gap_m", "m", 0, 50, "gap to the leader on its path, at most 100"},
    {"leader_speed_mps", "m/s", 0, 10, "the leader's speed minus its own; 0 without a leader"},
    {"follower_gap_m", "m", 0, 50, "gap to the follower, at most 100"},
    {"follower_speed_mps", "m/s", 0, 10, "the follower's speed minus its own; 0 without one"},
    {"commanded", "1", 0, 1, "under control"},
    {"commit_left_s", "s", 0, 30, "time left of its command"},
    {"others_held", "1", 0, 1,
     "share of its approach's other lanes whose first CV is under control"},
    {"own_vehicles", "1", 0, 60, "vehicles on its approach"},
    {"own_queue", "1", 0, 40, "vehicles on its approach slower than 5 m/s"},
    {"own_backlog", "1", 0, 100, "vehicles that wait to enter the network towards its approach"},
    {"own_passed_30s", "1", 0, 20,
     "vehicles that passed the stop line of its approach in the last 30 s"},
    {"own_density", "veh/km", 0, 40, "density per lane in the last 200 m of its approach"},
    {"own_speed_mps", "m/s", 0, 20, "mean speed in the last 200 m of its approach"},
    {"conflicting_vehicles", "1", 0, 60, "vehicles on the conflicting approaches"},
    {"conflicting_queue", "1", 0, 40, "vehicles on these approaches slower than 5 m/s"},
    {"conflicting_backlog", "1", 0, 100, "vehicles that wait to enter towards these approaches"},
    {"conflicting_passed_30s", "1", 0, 20,
     "vehicles that passed the stop lines of these approaches in the last 30 s"},
    {"conflicting_density", "veh/km", 0, 40,
     "mean density per lane in the last 200 m of these approaches"},
    {"conflicting_speed_mps", "m/s", 0, 20, "mean speed in the last 200 m of these approaches"},
    {"zone_density", "veh/km", 0, 40, "density per lane in the zone of the conflict"},
    {"zone_speed_mps", "m/s", 0, 20, "mean speed in the zone"},
    {"downstream_density", "veh/km", 0, 40, "density per lane after the zone"},
    {"downstream_speed_mps", "m/s", 0, 20, "mean speed after the zone"},
    {"signal_red", "1", 0, 1, "the light at its lane's stop line, or upstream of it, is red"},
    {"signal_change_s", "s", 0, 60,
     "time until signal_red changes, at most 120; 0 without a light"},
    {"signal_cycle", "1", 0, 1, "elapsed share of that light's cycle"},
    {"conflicting_signal", "1", 0, 1, "a conflicting approach has a light"},
    {"conflicting_green", "1", 0, 1, "a conflicting approach has green"},
    {"conflicting_change_s", "s", 0, 60, "time until that green ends or begins, at most 120"},
    {"conflicting_cycle", "1", 0, 1, "elapsed share of that light's cycle"},
}};

constexpr std::array<FeatureSpec, kNumEdgeColumns> kEdge = {{
    {"distance_m", "m", 0, 50, "how far the neighbour is ahead along the road; negative: behind"},
    {"relative_speed_mps", "m/s", 0, 10, "the neighbour's speed minus its own"},
    {"ttc_s", "s", 0, 10, "time-to-collision if they share a path, at most 10"},
    {"thw_s", "s", 0, 10, "time headway of the rear vehicle if they share a path, at most 10"},
}};

constexpr std::array<FeatureSpec, kNumGlobalColumns> kGlobal = {{
    {"mean_speed_mps", "m/s", 0, 20, "mean speed of all vehicles"},
    {"speed_deviation_mps", "m/s", 0, 10, "standard deviation of the speeds"},
    {"min_speed_mps", "m/s", 0, 20, "lowest speed"},
    {"max_speed_mps", "m/s", 0, 30, "highest speed"},
    {"mean_accel_mps2", "m/s2", 0, 1, "mean acceleration"},
    {"mean_abs_accel_mps2", "m/s2", 0, 1, "mean absolute acceleration"},
    {"hard_brakes", "1", 0, 10, "vehicles that brake harder than 3 m/s2"},
    {"halted_share", "1", 0, 1, "share of the vehicles slower than 0.1 m/s"},
    {"slow_share", "1", 0, 1, "share of the vehicles slower than 5 m/s"},
    {"vehicles", "1", 0, 300, "vehicles on the road"},
    {"cvs", "1", 0, 75, "connected vehicles on the road"},
    {"cv_speed_mps", "m/s", 0, 20, "mean speed of the connected vehicles"},
    {"mean_completion", "1", 0, 1, "mean completion of the vehicles"},
    {"waiting", "1", 0, 100, "vehicles that want to enter and cannot"},
    {"arrived_30s", "1", 0, 30, "vehicles that arrived in the last 30 s"},
    {"time_share", "1", 0, 1,
     "time divided by the episode's duration, or by an hour if it has no end"},
}};

static_assert(kNode.back().name == "conflicting_cycle" && kNode[kFirstCv].name == "first_cv" &&
              kNode[kOwnSpeed].name == "own_speed_mps" && kNode[kSignalRed].name == "signal_red");
static_assert(kGlobal.size() == std::tuple_size_v<decltype(GraphFrame::global_features)>);

}  // namespace

std::span<const FeatureSpec> node_features() { return kNode; }
std::span<const FeatureSpec> edge_features() { return kEdge; }
std::span<const FeatureSpec> global_features() { return kGlobal; }

int node_feature_index(std::string_view name) {
  const auto found = std::find_if(kNode.begin(), kNode.end(),
                                  [&](const FeatureSpec& spec) { return spec.name == name; });
  if (found == kNode.end()) throw Error(fmt::format("there is no node feature '{}'", name));
  return static_cast<int>(found - kNode.begin());
}

}  // namespace traffic::scene
