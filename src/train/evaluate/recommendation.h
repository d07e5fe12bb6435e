/// Decides from the results of a trial which controller traffic_doctor recommends, or that none
/// helps.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "evaluate/trial.h"

namespace traffic::train {

/// The conclusion about one controller in a trial. A gain is relative to no control.
enum class Standing : std::uint8_t {
  kHelps,  ///< it is safe, and the 95 % interval of its gain lies above 0
  /// The 95 % interval of its gain contains 0 and is at most +-1 percentage point wide, or the
  /// controller commanded nothing.
  kNoEffect,
  kWorsens,    ///< the 95 % interval of its gain lies below 0
  kUnsafe,     ///< more collisions or emergencies than without control
  kJams,       ///< more jammed runs than without control
  kUndecided,  ///< the trial was too short to tell
};

/// @param verdict the verdict of judge_controllers() about the controller
Standing standing_of(const Trial& trial, const ControllerVerdict& verdict);

struct Recommendation {
  /// Index of the controller to use; nothing if none of them is recommended.
  std::optional<std::size_t> use{};
  bool is_decided = false;  ///< whether the trial was long enough to decide
  std::string text{};       ///< the recommendation in one sentence, and its reasons
  /// Estimated duration of a trial that is long enough to decide; 0 if this trial was long enough.
  double needed_minutes = 0;
};

/// Recommends a controller that helps. If several help, it prefers trained controllers to scripts,
/// and among equals the first one in the plan. If the 95 % interval of the paired difference shows
/// that another controller is better than the preferred one, it recommends that controller instead.
/// @param minutes time that the trial was given
Recommendation recommend(const Trial& trial, double minutes);

/// The gain in words, such as "reduces the delay by 12.30 +- 1.20 %" or "raises the share of the
/// demand that gets through by 5.00 +- 1.10 %". With a single seed, the text has no interval.
std::string gain_text(const Trial& trial, const ControllerVerdict& verdict);

/// Estimates how many minutes a trial with this number of seeds and whole episodes takes. The
/// result is rounded up to two digits and is at least 1.5 times `minutes`.
/// @param minutes time that the trial was given
double minutes_for_seeds(const Trial& trial, std::size_t seeds, double minutes);

}  // namespace traffic::train
