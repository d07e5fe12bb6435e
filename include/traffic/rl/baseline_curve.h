/// What the score grows by itself: the mean growth of uncontrolled runs, by time of the episode.
///
/// The reward is the growth of the score's numerator less what uncontrolled runs of the scenario
/// gained at that time. Measured once per scenario and demand, in bins finer than a control step,
/// so that one measurement serves every control period. Where it is kept between runs is the
/// caller's affair: BaselineSums is numbers and a list of numbers.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace traffic::rl {

/// Growth added up over uncontrolled episodes of equal length. Ranks add theirs field by field.
struct BaselineSums {
  double bin_s = 1.0;               ///< seconds of a bin
  std::int64_t conflicts = 1;       ///< C
  std::int64_t episodes = 0;        ///< how many were added
  std::vector<double> growth = {};  ///< [bins, C] growth within the bin, summed over episodes

  /// Adds one episode. @param of_bins [bins, C]
  /// @throws DataError if its size is no multiple of C or differs from that of the first episode
  void add_episode(std::span<const double> of_bins);
  /// Adds what another has added up (none yet on either side is fine).
  /// @throws DataError if bins, their length or conflicts differ
  void merge(const BaselineSums& other);
};

/// The mean curve. Immutable, safe to read from several threads.
class BaselineCurve {
 public:
  /// @throws DataError if there are no episodes, no bins, or the numbers contradict each other
  explicit BaselineCurve(const BaselineSums& sums);

  [[nodiscard]] std::int64_t conflicts() const { return conflicts_; }
  [[nodiscard]] double duration_s() const;  ///< time that the curve covers
  /// Mean growth of a conflict from one time of the episode to another; linear within a bin.
  /// @throws DataError outside 0 .. duration_s(), or if from_s > to_s, or of an unknown conflict
  [[nodiscard]] double growth(double from_s, double to_s, std::int64_t conflict = 0) const;

 private:
  [[nodiscard]] double reached_by(double time_s, std::int64_t conflict) const;

  double bin_s_;
  std::int64_t conflicts_;
  std::vector<double> cumulative_;  ///< [bins + 1, C]
};

}  // namespace traffic::rl
