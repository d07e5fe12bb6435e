#include "signs_in_simulation.h"

#include <algorithm>
#include <set>

#include "speed_limits.h"
#include "traffic/core/error.h"
#include "traffic/rollout/traffic/sections.h"
#include "traffic/scene/control_period.h"

namespace traffic::example {
namespace {

/// Traffic on an edge, summed over steps.
struct Traffic {
  double density = 0.0;  ///< veh/km/lane
  double flow = 0.0;     ///< veh/h/lane

  void add(const scene::RoadState& state, int edge) {
    constexpr double kKmhPerMps = 3.6;
    const scene::Edge& on = state.road().edges[static_cast<std::size_t>(edge)];
    const double lane_km = 1e-3 * on.length_m * on.num_lanes;
    for (int lane = on.first_lane; lane < on.first_lane + on.num_lanes; ++lane) {
      for (const std::int32_t vehicle : state.lane_order().on(lane)) {
        density += 1.0 / lane_km;
        flow +=
            kKmhPerMps * state.vehicles()[static_cast<std::size_t>(vehicle)].speed_mps / lane_km;
      }
    }
  }
};

/// A sign, its edge, and the traffic since the last decision.
struct Sign {
  int edge = 0;
  double limit_mps = 0.0;       ///< the edge's own limit
  std::vector<int> next_edges;  ///< edges to which the edge's lanes lead
  std::size_t share = 0;        ///< index in kShares of the limit that the sign shows
  Traffic here{};
  Traffic ahead{};
};

Sign sign_at(const std::string& name, const scene::Road& road) {
  const auto found = road.edge_index.find(name);
  if (found == road.edge_index.end()) {
    throw ConfigError("speed_limits.edges: the network has no edge '{}'", name);
  }
  const scene::Edge& edge = road.edges[static_cast<std::size_t>(found->second)];
  std::set<int> next;
  for (int lane = edge.first_lane; lane < edge.first_lane + edge.num_lanes; ++lane) {
    for (const scene::Link& link : road.lanes[static_cast<std::size_t>(lane)].links) {
      next.insert(road.lanes[static_cast<std::size_t>(link.to_lane)].edge);
    }
  }
  return {.edge = found->second,
          .limit_mps = road.lanes[static_cast<std::size_t>(edge.first_lane)].speed_limit_mps,
          .next_edges = {next.begin(), next.end()}};
}

class SignsInSimulation final : public rollout::AgentInSimulation {
 public:
  explicit SignsInSimulation(const config::Config& config)
      : settings_(config.extension<SpeedLimits>()) {}

  void begin(const rollout::BeginningEpisode& episode) override {
    sumo_ = &episode.sumo;
    observed_ = episode.spec.observed;
    signs_.clear();
    for (const std::string& edge : settings_.edges) signs_.push_back(sign_at(edge, sumo_->road()));
    steps_ = 0;
    next_decision_s_ = sumo_->time_s();
  }

  void obey(std::span<const std::byte> orders) override {
    for (const ShowLimit& command : rollout::commands_in<ShowLimit>(orders)) {
      const auto share = static_cast<std::size_t>(command.share);
      if (static_cast<std::size_t>(command.sign) >= signs_.size() || share >= kShares.size()) {
        throw WorkerError(
            "a command is for sign {} and limit {}; expected a sign below {} and a limit below {}",
            command.sign, command.share, signs_.size(), kShares.size());
      }
      Sign& sign = signs_[static_cast<std::size_t>(command.sign)];
      sign.share = share;
      sumo_->set_speed_limit(sign.edge, kShares[share] * sign.limit_mps);
    }
  }

  void note_step(const rollout::MadeStep& /*step*/) override {
    ++steps_;
    for (Sign& sign : signs_) {
      sign.here.add(sumo_->state(), sign.edge);
      for (const int edge : sign.next_edges) sign.ahead.add(sumo_->state(), edge);
    }
  }

  void write(rollout::ByteWriter& section, bool /*terminated*/, bool done) override {
    views_.clear();
    const bool due = sumo_->time_s() >= next_decision_s_ - scene::kTimeTolerance_s;
    if (observed_ && due && !done) {
      for (Sign& sign : signs_) views_.push_back(look(sign));
      steps_ = 0;
      next_decision_s_ += settings_.period_s;
    }
    section.put_one<std::uint64_t>(views_.size());
    section.put(std::span<const SignView>(views_));
  }

 private:
  /// Describes the traffic since the last decision, and forgets it.
  SignView look(Sign& sign) const {
    SignView view{};
    const double steps = std::max<double>(1.0, static_cast<double>(steps_));
    const auto next = static_cast<double>(std::max<std::size_t>(1, sign.next_edges.size()));
    describe(sign.here, steps, sign.limit_mps, std::span(view).subspan<0, 3>());
    describe(sign.ahead, steps * next, sign.limit_mps, std::span(view).subspan<3, 3>());
    view[6] = static_cast<float>(kShares[sign.share]);
    view[7] = 1.0F;
    sign.here = {};
    sign.ahead = {};
    return view;
  }
  static void describe(const Traffic& traffic, double steps, double limit_mps,
                       std::span<float, 3> out) {
    const double density = traffic.density / steps;
    const double flow = traffic.flow / steps;
    const double speed_mps = density > 0.0 ? flow / density / 3.6 : limit_mps;
    out[0] = static_cast<float>(density / 50.0);
    out[1] = static_cast<float>(speed_mps / limit_mps);
    out[2] = static_cast<float>(flow / 2000.0);
  }

  SpeedLimits settings_;
  sim::SumoEnv* sumo_ = nullptr;
  bool observed_ = false;  ///< whether the rank observes the signs in this episode
  std::vector<Sign> signs_;
  std::int64_t steps_ = 0;  ///< number of steps since the last decision
  double next_decision_s_ = 0.0;
  std::vector<SignView> views_;
};

}  // namespace

rollout::SimulatedAgent simulated_speed_limits() {
  return {.agent = kSpeedLimits,
          .make = [](const config::Config& config) -> std::unique_ptr<rollout::AgentInSimulation> {
            return std::make_unique<SignsInSimulation>(config);
          },
          .own_sections = speed_limits_sections()};
}

}  // namespace traffic::example
