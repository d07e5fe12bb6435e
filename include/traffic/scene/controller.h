/// The interface of all controllers, the function that makes scripted ones, and the rule that
/// selects candidates: the vehicles that may get a command.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "traffic/scene/action.h"
#include "traffic/scene/signal_view.h"

namespace traffic::scene {

/// Commands vehicles, traffic lights or both, once per period_s(). Each simulation has its own
/// controller.
class Controller {
 public:
  virtual ~Controller() = default;
  Controller() = default;
  Controller(const Controller&) = delete;
  Controller& operator=(const Controller&) = delete;
  /// Called at the start of every episode.
  virtual void reset(std::uint64_t seed) = 0;
  /// Appends commands for vehicles.
  virtual void decide(const RoadState& state, std::vector<Command>& commands) = 0;
  /// Whether the controller sets traffic lights. If so, a call of decide_signals() must follow
  /// every call of decide().
  [[nodiscard]] virtual bool sets_signals() const { return false; }
  /// Whether the controller takes over the lights that it sets, or keeps their programs and only
  /// changes how long phases last.
  [[nodiscard]] virtual SignalMode signal_mode() const { return SignalMode::kTakesOver; }
  /// Appends commands for lights that may switch (SignalBook::may_switch).
  virtual void decide_signals(const SignalView& /*view*/,
                              std::vector<SignalCommand>& /*commands*/) {}
  [[nodiscard]] virtual std::string_view name() const = 0;
  /// Simulated time between two calls of decide(); 0: decide() is called after every step.
  [[nodiscard]] virtual double period_s() const = 0;
};

/// Which connected vehicles (CVs) may be commanded.
struct CandidateRule {
  double zone_m = 100.0;   ///< maximum distance to the next stop line
  bool lead_only = false;  ///< only the CV nearest to the stop line of each lane
  bool behind = false;     ///< also vehicles that have just passed a conflict and are in its zone
                           ///< (the road directly after its stop lines) or the road after the
                           ///< zone; has no effect with lead_only
  /// Only vehicles that would meet a stream whose light is green until a known time, or turns
  /// green within lead_s. On other vehicles the command arrive_late has no effect.
  bool released_only = false;
  double lead_s = 0;  ///< see released_only
};
/// A CV that may be commanded now.
struct Candidate {
  std::int32_t node = 0;      ///< index into RoadState::vehicles(), and of its node in the frame
  std::int32_t conflict = 0;  ///< the conflict ahead of the vehicle, or the one just passed
  std::int32_t approach = 0;  ///< approach of that conflict; -1: the vehicle has passed it
};
/// Finds the CVs that the rule admits and that are under no command, in the order of the frame's
/// nodes.
void find_candidates(const RoadState& state, const CandidateRule& rule,
                     std::vector<Candidate>& out);

/// Values that make_controller() uses for parameters that its text does not give.
struct ControllerOptions {
  int top_k = 5;               ///< maximum number of vehicles under control at once
  double period_s = 3.0;       ///< simulated time between two decisions
  CandidateRule candidates{};  ///< candidates of the controller `random`
};

/// Makes a scripted controller from a text such as "meter(zone_m=300)". config::controller_kinds()
/// lists the names and parameters.
/// @throws ConfigError for an unknown name or parameter
std::unique_ptr<Controller> make_controller(std::string_view text,
                                            const ControllerOptions& options = {});

}  // namespace traffic::scene
