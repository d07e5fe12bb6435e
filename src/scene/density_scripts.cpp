/// The scripts meter and vsl, which stop or slow down streams while traffic is dense.
#include "index.h"
#include "scripts.h"

namespace traffic::scene {
namespace {

/// Mean density over the last kNearLineM of all approaches, in vehicles per km and lane.
double density_before(const Conflict& where, const ConflictState& now) {
  double sum = 0.0;
  double lanes = 0.0;
  for (std::size_t a = 0; a < where.approaches.size(); ++a) {
    const auto own = static_cast<double>(where.approaches[a].lanes.size());
    sum += own * now.approaches[a].near_density;
    lanes += own;
  }
  return lanes > 0.0 ? sum / lanes : 0.0;
}

/// A group of streams, and the lanes on which vehicles are commanded.
struct Streams {
  bool major = false;  ///< true: streams with priority; false: streams that give way
  bool inner = false;  ///< whether to command only the leftmost lane of edges with several lanes

  [[nodiscard]] bool contain(const RoadState& state, const Vehicle& v) const {
    const Approach& approach = approach_of(state, v);
    return (major ? approach.major : approach.minor) && (!inner || is_inner(state.road(), v.lane));
  }

 private:
  static bool is_inner(const Road& road, int lane) {
    const Edge& edge = road.edge_of(lane);
    return edge.num_lanes > 1 && lane == edge.first_lane + edge.num_lanes - 1;
  }
};

/// Stops streams or slows them down while traffic in the zone of the conflict, or before it, is
/// dense.
class WhileDense final : public Script {
 public:
  /// @param before whether the density before the conflict counts, instead of that in its zone
  WhileDense(Streams streams, bool before, const config::ControllerSpec& spec,
             const ControllerOptions& options)
      : Script(spec, options),
        streams_(streams),
        before_(before),
        density_(spec.get("density")),
        from_m_(spec.get("from_m")),
        to_m_(spec.get("to_m")),
        speed_mps_(spec.get("speed_mps")) {}

  void decide(const RoadState& state, std::vector<Command>& commands) override {
    const Ask ask{speed_mps_ > 0 ? Longitudinal::kTargetSpeed : Longitudinal::kStop, speed_mps_};
    command(
        state,
        [&](const Vehicle& v) -> std::optional<Ask> {
          if (v.conflict < 0 || v.line_m < from_m_ || v.line_m > to_m_) return {};
          if (!streams_.contain(state, v)) return {};
          if (density_at(state, v.conflict) <= density_) return {};
          return ask;
        },
        commands);
  }

 private:
  [[nodiscard]] double density_at(const RoadState& state, int conflict) const {
    const ConflictState& now = at(state.conflicts(), conflict);
    return before_ ? density_before(at(state.road().conflicts, conflict), now) : now.zone_density;
  }

  Streams streams_;
  bool before_;
  double density_;
  double from_m_;
  double to_m_;
  double speed_mps_;
};

}  // namespace

std::unique_ptr<Controller> make_density_script(const config::ControllerSpec& spec,
                                                const ControllerOptions& options) {
  if (spec.name == "meter") {
    return std::make_unique<WhileDense>(Streams{}, spec.get("before") > 0, spec, options);
  }
  if (spec.name == "vsl") {
    const Streams streams{.major = true, .inner = spec.get("inner") > 0};
    return std::make_unique<WhileDense>(streams, /*before=*/false, spec, options);
  }
  return nullptr;
}

}  // namespace traffic::scene
