// BaselineCurve: how the objective grows over time in episodes without control. It sums the growth
// in bins of equal length and interpolates between them.
#include "traffic/rl/baseline_curve.h"

#include <algorithm>
#include <cmath>

#include "traffic/core/error.h"

namespace traffic::rl {

void BaselineSums::add_episode(std::span<const double> of_bins) {
  merge({.bin_s = bin_s,
         .conflicts = conflicts,
         .episodes = 1,
         .growth = std::vector<double>(of_bins.begin(), of_bins.end())});
}

void BaselineSums::merge(const BaselineSums& other) {
  if (other.episodes == 0) return;
  const bool fits = conflicts > 0 && other.conflicts == conflicts && other.bin_s == bin_s &&
                    other.growth.size() % static_cast<std::size_t>(conflicts) == 0 &&
                    (episodes == 0 || other.growth.size() == growth.size());
  if (!fits) {
    throw DataError(
        "baseline curve: cannot add {} numbers ({} conflicts, bins of {} s) to {} numbers ({} "
        "conflicts, bins of {} s)",
        other.growth.size(), other.conflicts, other.bin_s, growth.size(), conflicts, bin_s);
  }
  if (episodes == 0) growth.assign(other.growth.size(), 0.0);
  for (std::size_t i = 0; i < growth.size(); ++i) growth[i] += other.growth[i];
  episodes += other.episodes;
}

BaselineCurve::BaselineCurve(const BaselineSums& sums)
    : bin_s_(sums.bin_s), conflicts_(sums.conflicts) {
  const bool plausible =
      sums.bin_s > 0.0 && std::isfinite(sums.bin_s) && sums.conflicts > 0 && sums.episodes > 0 &&
      !sums.growth.empty() && sums.growth.size() % static_cast<std::size_t>(sums.conflicts) == 0 &&
      std::ranges::all_of(sums.growth, [](double x) { return std::isfinite(x); });
  if (!plausible) {
    throw DataError(
        "baseline curve: {} sums over {} episodes for {} conflicts in bins of {} s are not a valid "
        "measurement: expected finite sums, at least one for each conflict; measure again",
        sums.growth.size(), sums.episodes, sums.conflicts, sums.bin_s);
  }
  const auto C = static_cast<std::size_t>(conflicts_);
  cumulative_.assign(sums.growth.size() + C, 0.0);
  for (std::size_t i = 0; i < sums.growth.size(); ++i) {
    cumulative_[i + C] = cumulative_[i] + sums.growth[i] / static_cast<double>(sums.episodes);
  }
}

double BaselineCurve::duration_s() const {
  const auto bins = static_cast<std::int64_t>(cumulative_.size()) / conflicts_ - 1;
  return bin_s_ * static_cast<double>(bins);
}

double BaselineCurve::reached_by(double time_s, std::int64_t conflict) const {
  const double place = time_s / bin_s_;
  const auto last = static_cast<double>(cumulative_.size()) / static_cast<double>(conflicts_) - 1.0;
  const double below = std::min(std::floor(place), last - 1.0);
  const auto i = static_cast<std::size_t>(below) * static_cast<std::size_t>(conflicts_) +
                 static_cast<std::size_t>(conflict);
  const double next = cumulative_[i + static_cast<std::size_t>(conflicts_)];
  return cumulative_[i] + (place - below) * (next - cumulative_[i]);
}

double BaselineCurve::growth(double from_s, double to_s, std::int64_t conflict) const {
  const bool inside = from_s >= 0.0 && from_s <= to_s && to_s <= duration_s();
  if (!inside || conflict < 0 || conflict >= conflicts_) {
    throw DataError(
        "baseline curve: the growth from {} to {} s of conflict {} was asked for, but the curve "
        "covers 0 to {} s of {} conflicts, counted from 0",
        from_s, to_s, conflict, duration_s(), conflicts_);
  }
  return reached_by(to_s, conflict) - reached_by(from_s, conflict);
}

}  // namespace traffic::rl
