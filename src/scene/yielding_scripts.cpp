/// The scripts yield and let_in. They make streams with priority let other streams in.
#include <algorithm>

#include "index.h"
#include "scripts.h"

namespace traffic::scene {
namespace {

/// Delays the first CV of each lane of an approach with priority, so that it reaches the stop line
/// when the streams that it meets at the conflict lose the green of their light. Greens that begin
/// within lead_s also count.
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
      command.max_slowdown_mps2 = brake_mps2();
      commands.push_back(command);
    }
  }

 private:
  double from_m_;
  double to_m_;
  double lead_s_;
  double left_s_;
};

/// Lets a long queue of a minor approach in: stops connected vehicles of the approaches that have
/// priority over it. The script keeps no state of its own. If the first CV of a lane with priority
/// is under control, the script takes this as a sign that it has begun to let the queue in.
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
    command(
        state,
        [&](const Vehicle& v) -> std::optional<Ask> {
          if (v.conflict < 0 || v.line_m > to_m_) return {};
          if (v.passed >= 0 && v.in_zone) return {};  // would block the conflict just passed
          const int minor = at(lets_in_, v.conflict);
          if (minor < 0 || !meets(at(state.road().conflicts, v.conflict), minor, v.approach))
            return {};
          return Ask{Longitudinal::kStop};
        },
        commands);
  }

 private:
  static double waiting(const ApproachState& approach) {
    return static_cast<double>(approach.queue) + static_cast<double>(approach.backlog);
  }

  /// Whether an approach has priority over the approach `minor`. This tests !minor and not
  /// Approach::major, because an approach of which only some lanes give way to a third approach
  /// (left turns) is neither minor nor major.
  static bool meets(const Conflict& where, int minor, int approach) {
    const auto& foes = at(where.approaches, minor).conflicting;
    return !at(where.approaches, approach).minor && std::ranges::find(foes, approach) != foes.end();
  }

  /// The minor approach with the longest queue of all minor approaches that fulfil the conditions
  /// below; -1: none. The script lets this approach in.
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
};

}  // namespace

std::unique_ptr<Controller> make_yielding_script(const config::ControllerSpec& spec,
                                                 const ControllerOptions& options) {
  if (spec.name == "yield") return std::make_unique<Yield>(spec, options);
  if (spec.name == "let_in") return std::make_unique<LetIn>(spec, options);
  return nullptr;
}

}  // namespace traffic::scene
