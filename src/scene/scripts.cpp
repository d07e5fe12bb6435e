#include "scripts.h"

#include <algorithm>
#include <cmath>

#include "index.h"

namespace traffic::scene {
namespace {

const Approach& approach_of(const RoadState& state, const Vehicle& v) {
  return at(at(state.road().conflicts, v.conflict).approaches, v.approach);
}

/// Of the last kNearLineM of all approaches, vehicles per km and lane.
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

class Meter final : public Script {
 public:
  Meter(const config::ControllerSpec& spec, const ControllerOptions& options)
      : Script(spec, options),
        density_(spec.get("density")),
        before_(spec.get("before") > 0),
        from_m_(spec.get("from_m")),
        to_m_(spec.get("to_m")),
        speed_mps_(spec.get("speed_mps")) {}

  void decide(const RoadState& state, std::vector<Command>& commands) override {
    picks_.clear();
    for (std::size_t i = 0; i < state.vehicles().size(); ++i) {
      const Vehicle& v = state.vehicles()[i];
      if (!v.is_cv || v.conflict < 0 || v.line_m < from_m_ || v.line_m > to_m_) continue;
      if (!approach_of(state, v).minor) continue;
      if (density_at(state, v.conflict) <= density_) continue;
      picks_.push_back({v.line_m, static_cast<int>(i),
                        speed_mps_ > 0 ? Longitudinal::kTargetSpeed : Longitudinal::kStop,
                        speed_mps_});
    }
    give(picks_, state, commands);
  }

 private:
  [[nodiscard]] double density_at(const RoadState& state, int conflict) const {
    const ConflictState& now = at(state.conflicts(), conflict);
    return before_ ? density_before(at(state.road().conflicts, conflict), now) : now.zone_density;
  }

  double density_;
  bool before_;
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

/// Remembers nothing: that it has begun shows in the lanes whose first vehicle is under control.
class LetIn final : public Script {
 public:
  LetIn(const config::ControllerSpec& spec, const ControllerOptions& options)
      : Script(spec, options),
        queue_(spec.get("queue")),
        left_(spec.get("left")),
        most_(spec.get("most")),
        to_m_(spec.get("to_m")) {}

  void decide(const RoadState& state, std::vector<Command>& commands) override {
    lets_in_.clear();
    for (std::size_t c = 0; c < state.conflicts().size(); ++c) {
      lets_in_.push_back(waiting_minor(state.road().conflicts[c], state.conflicts()[c]));
    }
    picks_.clear();
    for (std::size_t i = 0; i < state.vehicles().size(); ++i) {
      const Vehicle& v = state.vehicles()[i];
      if (!v.is_cv || v.conflict < 0 || v.line_m > to_m_) continue;
      if (v.passed >= 0 && v.in_zone) continue;  // whom it stops would block the conflict behind it
      const int minor = at(lets_in_, v.conflict);
      if (minor < 0 || !meets(at(state.road().conflicts, v.conflict), minor, v.approach)) continue;
      picks_.push_back({v.line_m, static_cast<int>(i), Longitudinal::kStop, 0});
    }
    give(picks_, state, commands);
  }

 private:
  static double waiting(const ApproachState& approach) {
    return static_cast<double>(approach.queue) + static_cast<double>(approach.backlog);
  }

  /// Whether an approach has priority over a minor one. Where left turns give way it is not major.
  static bool meets(const Conflict& where, int minor, int approach) {
    const auto& foes = at(where.approaches, minor).conflicting;
    return !at(where.approaches, approach).minor && std::ranges::find(foes, approach) != foes.end();
  }

  /// The minor approach that is let in, with the longest queue of those; -1: none.
  [[nodiscard]] int waiting_minor(const Conflict& where, const ConflictState& now) const {
    int longest = -1;
    for (int minor = 0; minor < static_cast<int>(where.approaches.size()); ++minor) {
      if (!at(where.approaches, minor).minor) continue;
      const double own = waiting(at(now.approaches, minor));
      if (longest >= 0 && own <= waiting(at(now.approaches, longest))) continue;
      double others = 0.0;  // the longest queue with priority
      bool begun = false;
      for (const int approach : at(where.approaches, minor).conflicting) {
        if (at(where.approaches, approach).minor) continue;
        others = std::max(others, waiting(at(now.approaches, approach)));
        begun = begun || at(now.approaches, approach).lanes_held > 0;
      }
      const bool goes_on = begun ? own > left_ && others < most_ : own >= queue_ && own > others;
      if (goes_on) longest = minor;
    }
    return longest;
  }

  double queue_;
  double left_;
  double most_;
  double to_m_;
  std::vector<int> lets_in_;  ///< [conflicts] minor approach; -1: none
  std::vector<Pick> picks_;
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
  if (spec.name == "let_in") return std::make_unique<LetIn>(spec, options);
  if (spec.name == "brisk") return std::make_unique<Brisk>(spec, options);
  if (spec.name == "glide") return std::make_unique<Glide>(spec, options);
  return nullptr;
}

}  // namespace traffic::scene
