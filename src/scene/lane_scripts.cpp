/// The script sort, which commands lane changes.
#include <cstdlib>

#include "index.h"
#include "scripts.h"

namespace traffic::scene {
namespace {

/// A lane of the edge that a vehicle is on, and how far the lane follows the vehicle's route.
struct LaneOnRoute {
  int lane = -1;
  int changes = 0;      ///< lane changes that the route needs from here (RoutePlan::lane_changes)
  double serves_m = 0;  ///< distance ahead for which the lane follows the route
};

/// Sorts vehicles before a conflict onto the lanes that their routes need, see wanted().
class Sort final : public Script {
 public:
  Sort(const config::ControllerSpec& spec, const ControllerOptions& options)
      : Script(spec, options),
        from_m_(spec.get("from_m")),
        to_m_(spec.get("to_m")),
        through_(spec.get("through") > 0),
        balance_(spec.get("balance")) {}

  void decide(const RoadState& state, std::vector<Command>& commands) override {
    count(state);
    command(
        state,
        [&](const Vehicle& v) -> std::optional<Ask> {
          if (!in_reach(v)) return {};
          const LaneChange change = wanted(state.road(), v);
          if (change == LaneChange::kKeep) return {};
          return Ask{.lane_change = change};
        },
        commands);
  }

 private:
  /// If a lane stops following the vehicle's route within this distance after the conflict, the
  /// vehicle has to change lanes.
  static constexpr double kBehindM = 500.0;

  [[nodiscard]] bool in_reach(const Vehicle& v) const {
    return v.conflict >= 0 && v.line_m >= from_m_ && v.line_m <= to_m_;
  }

  void count(const RoadState& state) {
    vehicles_.assign(state.road().lanes.size(), 0);
    for (const Vehicle& v : state.vehicles()) {
      if (in_reach(v)) ++at(vehicles_, v.lane);
    }
  }

  /// A neighbouring lane of the vehicle, or its own lane for kKeep; nothing if cars may not drive
  /// there.
  [[nodiscard]] static std::optional<LaneOnRoute> beside(const Road& road, const Vehicle& v,
                                                         LaneChange to) {
    const int lane = road.lane_beside(v.lane, static_cast<int>(to));
    if (lane < 0) return {};
    const int slot = at(v.plan->first_slot, v.route_index) + at(road.lanes, lane).index;
    return LaneOnRoute{.lane = lane,
                       .changes = at(v.plan->lane_changes, slot),
                       .serves_m = at(v.plan->continuation_m, slot) - v.edge_pos_m};
  }

  /// Vehicles that have to change lanes do so early. With `through`, vehicles that need not change
  /// make room for them: they move to the left if the lane there is not crowded.
  [[nodiscard]] LaneChange wanted(const Road& road, const Vehicle& v) const {
    if (road.edge_of(v.lane).internal) return LaneChange::kKeep;
    const auto own = beside(road, v, LaneChange::kKeep);
    if (!own) return LaneChange::kKeep;
    const auto has_to = [&](const LaneOnRoute& one) {
      return one.changes != 0 && one.serves_m < v.line_m + kBehindM;
    };
    if (has_to(*own)) {
      const LaneChange to = own->changes > 0 ? LaneChange::kLeft : LaneChange::kRight;
      const auto next = beside(road, v, to);
      const bool helps = next && std::abs(next->changes) < std::abs(own->changes);
      return helps ? to : LaneChange::kKeep;
    }
    if (!through_) return LaneChange::kKeep;
    const auto left = beside(road, v, LaneChange::kLeft);
    if (!left || has_to(*left)) return LaneChange::kKeep;
    const bool crowded = at(vehicles_, left->lane) > balance_ * at(vehicles_, own->lane);
    return crowded ? LaneChange::kKeep : LaneChange::kLeft;
  }

  double from_m_;
  double to_m_;
  bool through_;
  double balance_;
  std::vector<int> vehicles_;  ///< [lanes] number of vehicles in reach
};

}  // namespace

std::unique_ptr<Controller> make_lane_script(const config::ControllerSpec& spec,
                                             const ControllerOptions& options) {
  if (spec.name == "sort") return std::make_unique<Sort>(spec, options);
  return nullptr;
}

}  // namespace traffic::scene
