/// Controllers that need no training, and who may be picked.
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

/// Decides, once a control period, what to ask of which vehicles. One per simulation.
class Controller {
 public:
  virtual ~Controller() = default;
  Controller() = default;
  Controller(const Controller&) = delete;
  Controller& operator=(const Controller&) = delete;
  /// Called at the start of every episode.
  virtual void reset(std::uint64_t seed) = 0;
  /// Appends commands for the state as it is now.
  virtual void decide(const RoadState& state, std::vector<Command>& commands) = 0;
  /// Whether it sets traffic lights: then they are taken over from their programs, and
  /// decide_signals() is called after every decide().
  [[nodiscard]] virtual bool sets_signals() const { return false; }
  /// Appends commands for lights that may switch (SignalBook::may_switch).
  virtual void decide_signals(const SignalView& /*view*/,
                              std::vector<SignalCommand>& /*commands*/) {}
  [[nodiscard]] virtual std::string_view name() const = 0;
  /// Time between two calls of decide(); 0: after every step.
  [[nodiscard]] virtual double period_s() const = 0;
};

/// Who may be picked.
struct CandidateRule {
  double zone_m = 100.0;   ///< distance to the next stop line, at most
  bool lead_only = false;  ///< the first CV of each lane only
  bool behind = false;     ///< also those that have just passed a conflict, unless lead_only
  /// Only those for whom a conflicting stream has a green that ends, or will have one within
  /// lead_s: others cannot arrive late.
  bool released_only = false;
  double lead_s = 0;
};
/// A CV that may be commanded now.
struct Candidate {
  std::int32_t node = 0;      ///< among the vehicles, which are the frame's nodes
  std::int32_t conflict = 0;  ///< ahead of it, or just passed
  std::int32_t approach = 0;  ///< of that conflict; -1: it has passed it
};
/// The CVs that the rule admits and that are not committed to a command, in the order of the
/// frame's nodes.
void find_candidates(const RoadState& state, const CandidateRule& rule,
                     std::vector<Candidate>& out);

/// What a controller takes where its text leaves it open.
struct ControllerOptions {
  int top_k = 5;               ///< vehicles under control at once, at most
  double period_s = 3.0;       ///< between two decisions of those that have none of their own
  CandidateRule candidates{};  ///< of `random`
};

/// The scripted controller that a text names; what there is, with its parameters, is in
/// config::controller_kinds().
/// @throws ConfigError if there is none of that name, or not with that parameter
std::unique_ptr<Controller> make_controller(std::string_view text,
                                            const ControllerOptions& options = {});

}  // namespace traffic::scene
