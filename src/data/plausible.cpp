// Tells whether speeds, accelerations and movements of recorded vehicles are physically possible.
#include "traffic/data/plausible.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace traffic::data {
namespace {

constexpr double kStretchM = 20;  ///< length of a stretch, for which one ratio is computed
/// If frames are far apart, only ratios below this count as impossible. They mean that the times
/// are in milliseconds.
constexpr double kSmallestRatioOfLongSteps = 0.01;
constexpr std::int64_t kFewStretches = 4;  ///< minimum number of stretches for a median
/// The bins of the histogram. They cover ratios from 2^kLowest to 2^kHighest.
constexpr int kBinsPerOctave = 16;
constexpr int kLowest = -24;
constexpr int kHighest = 8;
constexpr std::size_t kBins = (kHighest - kLowest) * kBinsPerOctave;

}  // namespace

bool is_possible_acceleration(double accel_mps2, double speed_mps) {
  if (accel_mps2 < 0 && speed_mps <= kStandingMps) return accel_mps2 > -1e6;
  return std::abs(accel_mps2) <= kMaxAccelerationMps2;
}

double reach_m(double faster_mps, double seconds) {
  constexpr double kStrongAccelerationMps2 = 5;
  constexpr double kSlack = 1.5;
  constexpr double kNoiseM = 15;
  return kSlack * (faster_mps + 0.5 * kStrongAccelerationMps2 * seconds) * seconds + kNoiseM;
}

bool same_interval(double a_s, double b_s) {
  constexpr double kTolerance = 1e-4;
  return std::abs(a_s - b_s) <= kTolerance * std::max(a_s, b_s);
}

bool is_possible_ratio(double ratio, double step_s, double largest) {
  if (step_s > kLongestComparedStepS) return ratio >= kSmallestRatioOfLongSteps;
  return ratio <= largest && ratio >= 1 / largest;
}

std::optional<double> DisplacementRatio::move(Stretch& stretch, scene::Point to, double speed_mps,
                                              double seconds) {
  if (!stretch.begun) {
    stretch = {.from = to, .speed_mps = speed_mps, .begun = true};
    return std::nullopt;
  }
  stretch.by_speed_m += 0.5 * (stretch.speed_mps + speed_mps) * seconds;
  stretch.speed_mps = speed_mps;
  const double moved_m = std::hypot(to.x - stretch.from.x, to.y - stretch.from.y);
  if (std::max(moved_m, stretch.by_speed_m) < kStretchM) return std::nullopt;
  const double ratio = moved_m / std::max(stretch.by_speed_m, 1e-9);
  const double bin = (std::log2(std::max(ratio, 1e-30)) - kLowest) * kBinsPerOctave;
  counts_.resize(kBins);
  ++counts_[static_cast<std::size_t>(std::clamp(bin, 0.0, kBins - 1.0))];
  ++stretches_;
  stretch = {.from = to, .speed_mps = speed_mps, .begun = true};
  return ratio;
}

std::optional<double> DisplacementRatio::median() const {
  if (stretches_ < kFewStretches) return std::nullopt;
  std::int64_t below = 0;
  std::size_t bin = 0;
  while (2 * (below + counts_[bin]) < stretches_) below += counts_[bin++];
  return std::exp2((static_cast<double>(bin) + 0.5) / kBinsPerOctave + kLowest);
}

std::string likely_unit(double ratio) {
  constexpr double kDegrees = 1e-3;
  constexpr double kNear = 1.06;
  constexpr std::array<std::pair<double, const char*>, 9> kUnits{
      {{1e-3, "the times may be milliseconds, or the coordinates kilometres"},
       {1e-6, "the times may be microseconds"},
       {1 / 3.6, "the speeds may be km/h"},
       {3.6, "the speeds may have been divided by 3.6 once too often"},
       {0.44704, "the speeds may be mph"},
       {0.3048, "the speeds may be ft/s"},
       {1 / 1.0973, "the speeds may be km/h where ft/s are expected"},
       {3.2808, "the coordinates may be feet, or the speeds m/s where ft/s are expected"},
       {100, "the coordinates may be centimetres"}}};
  const char* nearest = "";
  double distance = kNear;
  for (const auto& [factor, text] : kUnits) {
    const double apart = std::max(ratio / factor, factor / ratio);
    if (apart >= distance) continue;
    distance = apart;
    nearest = text;
  }
  if (*nearest == '\0' && ratio < kDegrees) return "the coordinates may be degrees";
  return nearest;
}

}  // namespace traffic::data
