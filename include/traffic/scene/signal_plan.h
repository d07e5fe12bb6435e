/// SignalPlan: the states that a controller may choose for one traffic light, and the yellow and
/// all-red states between them.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "traffic/scene/signal.h"

namespace traffic::scene {

/// Whether a letter of SUMO's state string is green: with priority (G) or yielding (g). Links with
/// s, o or O may drive too (may_drive() in signal.h), but these letters are not green.
bool is_green(char state);

/// A phase in which at least one link has green and none shows yellow or another transition.
struct SignalGreen {
  std::string state;       ///< one letter per link
  std::vector<int> links;  ///< links with G or g
};

/// Limits that hold for every light.
struct SignalLimits {
  double yellow_s = 3.0;
  double all_red_s = 0.0;
  double min_green_s = 5.0;
  double max_green_s = 120.0;  ///< 0: no limit
  /// Used if a light keeps its program and the program fixes the durations of all phases: share by
  /// which a green may become shorter or longer (SignalPlan::with_limits).
  double phase_range = 0.5;
};

/// The content of a <tlLogic> element, a program of a light in SUMO's files.
struct SignalLogic {
  std::vector<SignalPhase> phases;
  std::map<std::string, std::string> parameters;  ///< key and value of each <param> element

  /// Whether this is a NEMA program, after a standard of the USA: each phase belongs to one of two
  /// rings, which run side by side.
  [[nodiscard]] bool has_rings() const { return parameters.contains("ring1"); }
};

/// The phases that a NEMA program can show. Two barriers divide both rings into two parts. The
/// light shows one phase of each ring at a time, both from the same part. The result has all such
/// pairs. If only one ring has phases in a part, the result has the phases of that ring.
std::vector<SignalPhase> combine_rings(const SignalLogic& logic);

/// The greens of one light, taken from its program. Apart from the transitions between greens, the
/// light never shows a state that is not in its program.
class SignalPlan {
 public:
  SignalPlan() = default;
  /// @param phases phases of the program. Greens keep their order; equal ones count once. A phase
  ///   is not a green if a link shows yellow (y, Y), red and yellow (u) or off (o, O), unless that
  ///   link shows the same letter in every phase.
  explicit SignalPlan(std::span<const SignalPhase> phases);
  explicit SignalPlan(const SignalLogic& logic);

  [[nodiscard]] std::span<const SignalGreen> greens() const { return greens_; }
  /// The phases of the program; for a NEMA program combine_rings().
  [[nodiscard]] std::span<const SignalPhase> phases() const { return phases_; }
  /// Whether the light has two greens or more.
  [[nodiscard]] bool has_choice() const { return greens_.size() > 1; }
  /// Index of the green with this state; -1: none.
  [[nodiscard]] int find(std::string_view state) const;
  /// Whether the light shows yellow between two greens: a link loses its green or its priority.
  [[nodiscard]] bool needs_yellow(int from, int to) const;
  /// State after green `from` and before green `to`. Links that lose their green show yellow. Links
  /// that only lose their priority yield already. All others stay as they are.
  [[nodiscard]] std::string yellow(int from, int to) const;
  /// State after yellow(): links with yellow show red.
  [[nodiscard]] std::string all_red(int from, int to) const;
  /// A phase, with the limits of its duration in min_s and max_s. The limits are those of the
  /// program. If the program fixes the durations of all its phases, the limits of a green of at
  /// least 10 s are (1 - share) and (1 + share) times its duration.
  [[nodiscard]] SignalPhase with_limits(int phase, double share) const;
  /// The links that have green in a phase.
  [[nodiscard]] const SignalGreen& green_of(int phase) const;
  /// The first later phase in which a link that is red in this phase has green; -1: none.
  [[nodiscard]] int next_green(int phase) const;

 private:
  [[nodiscard]] std::string between(int from, int to, char lost) const;

  std::vector<SignalPhase> phases_;
  std::vector<SignalGreen> phase_greens_;  ///< [phases]
  std::vector<SignalGreen> greens_;
};

}  // namespace traffic::scene
