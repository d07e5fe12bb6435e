/// BaselineCurve: how the objective grows over time in an episode without control, averaged over
/// episodes. Rewards are computed relative to it.
///
/// The objective is the throughput or the negative delay (env.objective). The reward of a control
/// step depends on the growth of the objective in this step, minus its growth in uncontrolled
/// episodes of the same scenario over the same time. The baseline is measured once per scenario and
/// demand. Its time bins are shorter than a control step, so one measurement serves every length of
/// control step. Callers save the measurement as BaselineSums.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace traffic::rl {

/// The measurement: growth summed over uncontrolled episodes of equal length. Ranks may add their
/// sums.
struct BaselineSums {
  double bin_s = 1.0;               ///< length of a bin in seconds
  std::int64_t conflicts = 1;       ///< C, the number of places where streams of traffic meet
  std::int64_t episodes = 0;        ///< number of episodes added
  std::vector<double> growth = {};  ///< [bins, C] growth within the bin, summed over episodes

  /// Adds one episode. @param of_bins [bins, C] growth within each bin
  /// @throws DataError if its size is not a multiple of C or differs from that of the first episode
  void add_episode(std::span<const double> of_bins);
  /// Adds the sums of another measurement. Both measurements may be empty.
  /// @throws DataError if the number of bins, their length or the number of conflicts differs
  void merge(const BaselineSums& other);
};

/// The mean growth over time. Immutable; several threads may read it.
class BaselineCurve {
 public:
  /// @throws DataError if there are no episodes or no bins, or if the fields contradict each other
  explicit BaselineCurve(const BaselineSums& sums);

  [[nodiscard]] std::int64_t conflicts() const { return conflicts_; }
  [[nodiscard]] double duration_s() const;  ///< time covered by the curve
  /// Mean growth of a conflict between two times of the episode; linear within a bin.
  /// @throws DataError for a time outside 0 .. duration_s(), from_s > to_s or an unknown conflict
  [[nodiscard]] double growth(double from_s, double to_s, std::int64_t conflict = 0) const;

 private:
  /// Mean growth of a conflict from the start of the episode until time_s.
  [[nodiscard]] double reached_by(double time_s, std::int64_t conflict) const;

  double bin_s_;
  std::int64_t conflicts_;
  std::vector<double> cumulative_;  ///< [bins + 1, C]
};

}  // namespace traffic::rl
