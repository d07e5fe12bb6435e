/// What a traffic light may show: the greens of its program, and how it gets from one to another.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "traffic/scene/signal.h"

namespace traffic::scene {

/// Whether a letter gives way freely (G) or after the others (g). Not s, o and O: who has them
/// looks for himself whatever else is shown.
bool is_green(char state);

/// A phase of the program that is somebody's green and nobody's way into another one.
struct SignalGreen {
  std::string state;       ///< one letter a link
  std::vector<int> links;  ///< those with G or g
};

/// How long what is shown.
struct SignalLimits {
  double yellow_s = 3.0;
  double all_red_s = 0.0;
  double min_green_s = 5.0;
  double max_green_s = 120.0;  ///< 0: no limit
};

/// The greens of one light, from its program. Streams that have G together there have it here:
/// nothing is shown that the program does not show, but what leads from one green to another.
class SignalPlan {
 public:
  SignalPlan() = default;
  /// @param phases of the program, in its order; greens keep it, each only once. A phase with
  /// yellow (y, Y), red and yellow (u) or a light that is off (o, O) is no green.
  explicit SignalPlan(std::span<const SignalPhase> phases);

  [[nodiscard]] std::span<const SignalGreen> greens() const { return greens_; }
  /// Whether there is anything to choose.
  [[nodiscard]] bool has_choice() const { return greens_.size() > 1; }
  /// The green that shows this; -1: none.
  [[nodiscard]] int find(std::string_view state) const;
  /// Whether a link loses its green, or its priority, on the way: then yellow is shown between.
  [[nodiscard]] bool needs_yellow(int from, int to) const;
  /// Between two greens: yellow for links that lose their green; those that only lose priority give
  /// way already; those that keep or get theirs stay as they are.
  [[nodiscard]] std::string yellow(int from, int to) const;
  /// After that: red where yellow was.
  [[nodiscard]] std::string all_red(int from, int to) const;

 private:
  [[nodiscard]] std::string between(int from, int to, char lost) const;

  std::vector<SignalGreen> greens_;
};

}  // namespace traffic::scene
