#include <algorithm>
#include <array>

#include "index.h"
#include "traffic/core/error.h"
#include "traffic/core/random.h"
#include "traffic/core/random_streams.h"
#include "traffic/scene/controller.h"

namespace traffic::scene {
namespace {

bool is_committed(const Vehicle& v, const RoadState& state) {
  // Step times are sums of step lengths and carry rounding errors.
  return v.commanded && v.committed_until_s > state.time_s() + 1e-6;
}

class None final : public Controller {
 public:
  void reset(std::uint64_t /*seed*/) override {}
  void decide(const RoadState& /*state*/, std::vector<Command>& /*commands*/) override {}
  [[nodiscard]] std::string_view name() const override { return "none"; }
  [[nodiscard]] double period_s() const override { return 1.0; }
};

class Random final : public Controller {
 public:
  explicit Random(const ControllerOptions& options) : options_(options), rng_(0) {}
  void reset(std::uint64_t seed) override {
    rng_ = Rng(derive_seed(seed, {kRandomControllerStream}));
  }

  void decide(const RoadState& state, std::vector<Command>& commands) override {
    find_candidates(state, options_.candidates, candidates_);
    rng_.shuffle(std::span(candidates_));
    int picked = 0;
    for (const Candidate& candidate : candidates_) {
      if (picked == options_.top_k) break;
      if (rng_.uniform() >= options_.random_share) continue;
      ++picked;
      constexpr std::array kActions = {Longitudinal::kStop, Longitudinal::kSlow,
                                       Longitudinal::kHold, Longitudinal::kFast};
      Command command;
      command.vehicle_id = at(state.vehicles(), candidate.node).id;
      command.longitudinal = kActions[rng_.uniform_int(kActions.size())];
      command.lane_change = static_cast<LaneChange>(static_cast<int>(rng_.uniform_int(3)) - 1);
      command.hold_s = options_.random_period_s;
      commands.push_back(command);
    }
  }
  [[nodiscard]] std::string_view name() const override { return "random"; }
  [[nodiscard]] double period_s() const override { return options_.random_period_s; }

 private:
  ControllerOptions options_;
  Rng rng_;
  std::vector<Candidate> candidates_;
};

class Meter final : public Controller {
 public:
  explicit Meter(const ControllerOptions& options) : options_(options) {}
  void reset(std::uint64_t /*seed*/) override {}

  void decide(const RoadState& state, std::vector<Command>& commands) override {
    picked_.clear();
    for (std::size_t i = 0; i < state.vehicles().size(); ++i) {
      const Vehicle& v = state.vehicles()[i];
      if (!v.is_cv || v.conflict < 0) continue;
      if (v.line_m < options_.meter_from_m || v.line_m > options_.meter_to_m) continue;
      if (!at(at(state.road().conflicts, v.conflict).approaches, v.approach).minor) continue;
      if (at(state.conflicts(), v.conflict).zone_density <= options_.meter_density) continue;
      picked_.push_back(static_cast<int>(i));
    }
    std::sort(picked_.begin(), picked_.end(), [&](int a, int b) {
      const auto& va = at(state.vehicles(), a);
      const auto& vb = at(state.vehicles(), b);
      return va.line_m != vb.line_m ? va.line_m < vb.line_m : a < b;
    });
    if (static_cast<int>(picked_.size()) > options_.top_k)
      picked_.resize(static_cast<std::size_t>(options_.top_k));
    for (const int i : picked_) {
      Command command;
      command.vehicle_id = at(state.vehicles(), i).id;
      command.longitudinal = Longitudinal::kStop;
      command.hold_s = period_s();
      commands.push_back(command);
    }
  }
  [[nodiscard]] std::string_view name() const override { return "meter"; }
  [[nodiscard]] double period_s() const override { return 1.0; }

 private:
  ControllerOptions options_;
  std::vector<int> picked_;
};

class Yield final : public Controller {
 public:
  explicit Yield(const ControllerOptions& options) : options_(options) {}
  void reset(std::uint64_t /*seed*/) override {}

  void decide(const RoadState& state, std::vector<Command>& commands) override {
    int controlled = 0;
    for (const Vehicle& v : state.vehicles()) controlled += is_committed(v, state) ? 1 : 0;
    for (const Vehicle& v : state.vehicles()) {
      if (controlled >= options_.top_k) return;
      if (!v.first_cv || is_committed(v, state)) continue;
      if (v.line_m < options_.yield_from_m || v.line_m > options_.yield_to_m) continue;
      if (!at(at(state.road().conflicts, v.conflict).approaches, v.approach).major) continue;
      const auto left = conflicting_green_left_s(state, v);
      if (!left || *left < options_.yield_left_s) continue;
      ++controlled;
      Command command;
      command.vehicle_id = v.id;
      command.longitudinal = Longitudinal::kArriveLate;
      command.hold_s = *left;
      commands.push_back(command);
    }
  }
  [[nodiscard]] std::string_view name() const override { return "yield"; }
  [[nodiscard]] double period_s() const override { return 5.0; }

 private:
  ControllerOptions options_;
};

constexpr std::array<std::string_view, 4> kControllers = {"none", "random", "meter", "yield"};

}  // namespace

void find_candidates(const RoadState& state, const CandidateRule& rule,
                     std::vector<Candidate>& out) {
  out.clear();
  const auto vehicles = state.vehicles();
  for (std::size_t i = 0; i < vehicles.size(); ++i) {
    const Vehicle& v = vehicles[i];
    if (!v.is_cv || v.conflict < 0 || v.line_m > rule.zone_m) continue;
    if (rule.lead_only && !v.first_cv) continue;
    if (is_committed(v, state)) continue;
    if (rule.released_only && !conflicting_green_left_s(state, v)) continue;
    out.push_back(
        {.node = static_cast<std::int32_t>(i), .conflict = v.conflict, .approach = v.approach});
  }
}

std::span<const std::string_view> controller_names() { return kControllers; }

std::unique_ptr<Controller> make_controller(std::string_view name,
                                            const ControllerOptions& options) {
  if (name == "none") return std::make_unique<None>();
  if (name == "random") return std::make_unique<Random>(options);
  if (name == "meter") return std::make_unique<Meter>(options);
  if (name == "yield") return std::make_unique<Yield>(options);
  throw ConfigError("there is no controller '{}'; known are {}", name,
                    fmt::join(kControllers, ", "));
}

}  // namespace traffic::scene
