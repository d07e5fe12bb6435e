/// The states that a controller may choose for a traffic light, and the transitions between them.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "traffic/scene/signal.h"

namespace traffic::scene {

/// Whether a letter of SUMO's state string is green: with priority (G) or yielding (g). Links with
/// s, o or O may drive as well, but under no green of the light.
bool is_green(char state);

/// A phase in which a link has green and none is on its way to another phase.
struct SignalGreen {
  std::string state;       ///< one letter per link
  std::vector<int> links;  ///< links with G or g
};

/// Durations that hold for every light.
struct SignalLimits {
  double yellow_s = 3.0;
  double all_red_s = 0.0;
  double min_green_s = 5.0;
  double max_green_s = 120.0;  ///< 0: no limit
  /// Where lights keep a program that fixes the durations of all its phases: the share by which a
  /// long green may be shorter or longer.
  double phase_range = 0.5;
};

/// A <tlLogic> of SUMO.
struct SignalLogic {
  std::vector<SignalPhase> phases;
  std::map<std::string, std::string> parameters;  ///< its <param> elements

  /// Whether this is a NEMA program: each phase belongs to one of two rings, which run side by
  /// side.
  [[nodiscard]] bool has_rings() const { return parameters.contains("ring1"); }
};

/// Phases that a NEMA program shows: all pairs of phases, one from each ring, between the same
/// barriers.
std::vector<SignalPhase> combine_rings(const SignalLogic& logic);

/// The greens of one light, from its program. Apart from the transitions between greens, a light
/// shows only what its program shows.
class SignalPlan {
 public:
  SignalPlan() = default;
  /// @param phases of the program. Greens keep its order; equal ones count once. A phase is no
  /// green if a link shows yellow (y, Y), red and yellow (u) or off (o, O), unless that link shows
  /// the same in every phase.
  explicit SignalPlan(std::span<const SignalPhase> phases);
  explicit SignalPlan(const SignalLogic& logic);

  [[nodiscard]] std::span<const SignalGreen> greens() const { return greens_; }
  /// The program itself; of a NEMA program the pairs of its rings.
  [[nodiscard]] std::span<const SignalPhase> phases() const { return phases_; }
  /// Whether there are two greens or more.
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
  /// A phase with the limits of its duration in min_s and max_s. They are those of the program. If
  /// the program fixes the durations of all its phases, greens of 10 s and longer may be longer or
  /// shorter by the share.
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
