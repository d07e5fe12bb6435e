/// Draws the conclusion from a trial: which controller to use, if any.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "evaluate/trial.h"

namespace traffic::train {

/// The result of a controller in a trial.
enum class Standing : std::uint8_t {
  kHelps,      ///< it is safe, and the 95 % interval of its gain lies above 0
  kNoEffect,   ///< the interval contains 0 and is at most +-1 %, or it commanded nothing
  kWorsens,    ///< the 95 % interval of its gain lies below 0
  kUnsafe,     ///< more collisions or emergencies than without control
  kJams,       ///< more jammed runs than without control
  kUndecided,  ///< the trial was too short to tell
};

/// @param verdict of judge_controllers() for this controller
Standing standing_of(const Trial& trial, const ControllerVerdict& verdict);

struct Recommendation {
  std::optional<std::size_t> use{};  ///< index of the controller to use; nothing: none of them
  bool is_decided = false;           ///< false: the trial was too short
  std::string text{};                ///< the recommendation in one sentence, and its reasons
  double needed_minutes = 0;         ///< estimated time of a trial that decides; 0 if decided
};

/// Recommends a controller that helps. If several help, it prefers a trained one to a script, and
/// one that comes earlier in the plan to a later one. It recommends another controller only if the
/// 95 % interval of their paired difference shows that the other is better.
/// @param minutes time that the trial was given
Recommendation recommend(const Trial& trial, double minutes);

/// "reduces the delay by 12.3 +- 1.2 %" or "raises the share of the demand that gets through by
/// 5.0 +- 1.1 %"; the interval is missing with a single seed.
std::string gain_text(const Trial& trial, const ControllerVerdict& verdict);

/// Estimated minutes that a trial with this number of seeds and whole episodes takes, rounded up to
/// two digits; always longer than the given trial.
/// @param minutes time that the trial was given
double minutes_for_seeds(const Trial& trial, std::size_t seeds, double minutes);

}  // namespace traffic::train
