#include "scripts.h"

#include <algorithm>
#include <cmath>

#include "index.h"

namespace traffic::scene {
namespace {

const Approach& approach_of(const RoadState& state, const Vehicle& v) {
  return at(at(state.road().conflicts, v.conflict).approaches, v.approach);
}

class Meter final : public Script {
 public:
  Meter(const config::ControllerSpec& spec, const ControllerOptions& options)
      : Script(spec, options),
        density_(spec.get("density")),
        from_m_(spec.get("from_m")),
        to_m_(spec.get("to_m")),
        speed_mps_(spec.get("speed_mps")) {}

  void decide(const RoadState& state, std::vector<Command>& commands) override {
    picks_.clear();
    for (std::size_t i = 0; i < state.vehicles().size(); ++i) {
      const Vehicle& v = state.vehicles()[i];
      if (!v.is_cv || v.conflict < 0 || v.line_m < from_m_ || v.line_m > to_m_) continue;
      if (!approach_of(state, v).minor) continue;
      if (at(state.conflicts(), v.conflict).zone_density <= density_) continue;
      picks_.push_back({v.line_m, static_cast<int>(i),
                        speed_mps_ > 0 ? Longitudinal::kTargetSpeed : Longitudinal::kStop,
                        speed_mps_});
    }
    give(picks_, state, commands);
  }

 private:
  double density_;
  double from_m_;
  double to_m_;
  double speed_mps_;
  std::vector<Pick> picks_;
};

class Yield final : public Script {
 public:
  Yield(const config::ControllerSpec& spec, const ControllerOptions& options)
      : Script(spec, options),
        from_m_(spec.get("from_m")),
        to_m_(spec.get("to_m")),
        lead_s_(spec.get("lead_s")),
        left_s_(spec.get("left_s")) {}

  void decide(const RoadState& state, std::vector<Command>& commands) override {
    int controlled = 0;
    for (const Vehicle& v : state.vehicles()) controlled += is_committed(v, state) ? 1 : 0;
    for (const Vehicle& v : state.vehicles()) {
      if (controlled >= top()) return;
      if (!v.first_cv || is_committed(v, state)) continue;
      if (v.line_m < from_m_ || v.line_m > to_m_ || !approach_of(state, v).major) continue;
      const auto left = conflicting_green_left_s(state, v, lead_s_);
      if (!left || *left < left_s_) continue;
      ++controlled;
      Command command;
      command.vehicle_id = v.id;
      command.longitudinal = Longitudinal::kArriveLate;
      command.value = lead_s_;
      command.hold_s = *left;
      commands.push_back(command);
    }
  }

 private:
  double from_m_;
  double to_m_;
  double lead_s_;
  double left_s_;
};

/// Within reach of a conflict ahead or, if asked for, in the zone or the stretch behind one.
bool is_near_conflict(const Vehicle& v, double to_m, bool behind) {
  return (v.conflict >= 0 && v.line_m <= to_m) || (behind && v.passed >= 0);
}

class Brisk final : public Script {
 public:
  Brisk(const config::ControllerSpec& spec, const ControllerOptions& options)
      : Script(spec, options), to_m_(spec.get("to_m")), behind_(spec.get("behind") > 0) {}

  void decide(const RoadState& state, std::vector<Command>& commands) override {
    picks_.clear();
    for (std::size_t i = 0; i < state.vehicles().size(); ++i) {
      const Vehicle& v = state.vehicles()[i];
      if (!v.is_cv || !is_near_conflict(v, to_m_, behind_)) continue;
      picks_.push_back({v.line_m, static_cast<int>(i), Longitudinal::kFast, 0});
    }
    give(picks_, state, commands);
  }

 private:
  double to_m_;
  bool behind_;
  std::vector<Pick> picks_;
};

class Glide final : public Script {
 public:
  Glide(const config::ControllerSpec& spec, const ControllerOptions& options)
      : Script(spec, options), to_m_(spec.get("to_m")), brisk_m_(spec.get("brisk_m")) {}

  void decide(const RoadState& state, std::vector<Command>& commands) override {
    picks_.clear();
    for (std::size_t i = 0; i < state.vehicles().size(); ++i) {
      const Vehicle& v = state.vehicles()[i];
      if (!v.is_cv) continue;
      const bool red = own_red_left_s(state, v).has_value();
      if (red && v.line_m > to_m_) continue;  // too early to slow down, no reason to hurry
      if (!red && !is_near_conflict(v, brisk_m_, /*behind=*/true)) continue;
      picks_.push_back({v.line_m, static_cast<int>(i),
                        red ? Longitudinal::kArriveGreen : Longitudinal::kFast, 0});
    }
    give(picks_, state, commands);
  }

 private:
  double to_m_;
  double brisk_m_;
  std::vector<Pick> picks_;
};

}  // namespace

bool is_committed(const Vehicle& vehicle, const RoadState& state) {
  // Step times are sums of step lengths and carry rounding errors.
  return vehicle.commanded && vehicle.committed_until_s > state.time_s() + 1e-6;
}

Script::Script(const config::ControllerSpec& spec, const ControllerOptions& options)
    : name_(spec.name),
      top_(spec.get("top") > 0 ? static_cast<int>(std::lround(spec.get("top"))) : options.top_k),
      period_s_(spec.get("period_s") > 0 ? spec.get("period_s") : options.period_s) {}

void Script::give(std::vector<Pick>& picks, const RoadState& state,
                  std::vector<Command>& commands) const {
  std::sort(picks.begin(), picks.end(), [](const Pick& a, const Pick& b) {
    return a.line_m != b.line_m ? a.line_m < b.line_m : a.vehicle < b.vehicle;
  });
  if (static_cast<int>(picks.size()) > top_) picks.resize(static_cast<std::size_t>(top_));
  for (const Pick& pick : picks) {
    Command command;
    command.vehicle_id = at(state.vehicles(), pick.vehicle).id;
    command.longitudinal = pick.longitudinal;
    command.value = pick.value;
    command.hold_s = period_s_;
    commands.push_back(command);
  }
}

std::unique_ptr<Controller> make_script(const config::ControllerSpec& spec,
                                        const ControllerOptions& options) {
  if (spec.name == "meter") return std::make_unique<Meter>(spec, options);
  if (spec.name == "yield") return std::make_unique<Yield>(spec, options);
  if (spec.name == "brisk") return std::make_unique<Brisk>(spec, options);
  if (spec.name == "glide") return std::make_unique<Glide>(spec, options);
  return nullptr;
}

}  // namespace traffic::scene
