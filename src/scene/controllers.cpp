// Finds the vehicles that may get commands, makes scripted controllers from their names, and
// implements the controllers none and random.
#include <algorithm>
#include <array>

#include "index.h"
#include "scripts.h"
#include "signal_scripts.h"
#include "traffic/config/controller_spec.h"
#include "traffic/core/error.h"
#include "traffic/core/random.h"
#include "traffic/core/random_streams.h"
#include "traffic/scene/controller.h"

namespace traffic::scene {
namespace {

/// Gives no commands.
class None final : public Controller {
 public:
  void reset(std::uint64_t /*seed*/) override {}
  void decide(const RoadState& /*state*/, std::vector<Command>& /*commands*/) override {}
  [[nodiscard]] std::string_view name() const override { return "none"; }
  [[nodiscard]] double period_s() const override { return 1.0; }
};

/// Gives random commands to randomly chosen candidates.
class Random final : public Script {
 public:
  Random(const config::ControllerSpec& spec, const ControllerOptions& options)
      : Script(spec, options), rule_(options.candidates), share_(spec.get("share")), rng_(0) {}
  void reset(std::uint64_t seed) override {
    rng_ = Rng(derive_seed(seed, {kRandomControllerStream}));
  }

  void decide(const RoadState& state, std::vector<Command>& commands) override {
    find_candidates(state, rule_, candidates_);
    rng_.shuffle(std::span(candidates_));
    int picked = 0;
    for (const Candidate& candidate : candidates_) {
      if (picked == top()) break;
      if (rng_.uniform() >= share_) continue;
      ++picked;
      constexpr std::array kActions = {Longitudinal::kStop, Longitudinal::kSlow,
                                       Longitudinal::kHold, Longitudinal::kFast};
      Command command;
      command.vehicle_id = at(state.vehicles(), candidate.node).id;
      command.longitudinal = kActions[rng_.uniform_int(kActions.size())];
      command.lane_change = static_cast<LaneChange>(static_cast<int>(rng_.uniform_int(3)) - 1);
      command.hold_s = period_s();
      commands.push_back(command);
    }
  }

 private:
  CandidateRule rule_;
  double share_;
  Rng rng_;
  std::vector<Candidate> candidates_;
};

}  // namespace

void find_candidates(const RoadState& state, const CandidateRule& rule,
                     std::vector<Candidate>& out) {
  out.clear();
  const auto vehicles = state.vehicles();
  for (std::size_t i = 0; i < vehicles.size(); ++i) {
    const Vehicle& v = vehicles[i];
    if (!v.is_cv || is_committed(v, state)) continue;
    const bool before = v.conflict >= 0 && v.line_m <= rule.zone_m;
    if (!before && !(rule.behind && v.passed >= 0)) continue;
    if (rule.lead_only && !(before && v.first_cv)) continue;
    if (rule.released_only && !conflicting_green_left_s(state, v, rule.lead_s)) continue;
    out.push_back({.node = static_cast<std::int32_t>(i),
                   .conflict = before ? v.conflict : v.passed,
                   .approach = before ? v.approach : -1});
  }
}

std::unique_ptr<Controller> make_controller(std::string_view text,
                                            const ControllerOptions& options) {
  const config::ControllerSpec spec = config::parse_controller(text);
  if (spec.name == "none") return std::make_unique<None>();
  if (spec.name == "random") return std::make_unique<Random>(spec, options);
  if (auto script = make_signal_script(spec, options)) return script;
  auto script = make_script(spec, options);
  TRAFFIC_CHECK(script != nullptr,
                "config::controller_kinds() lists '{}', but make_controller() does not make it",
                spec.name);
  return script;
}

}  // namespace traffic::scene
