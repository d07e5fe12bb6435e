/// Plans the episodes of a trial (trial.h) so that they fit into a limited real time. From the
/// progress of running episodes it estimates how many more episodes fit, and how long episodes may
/// be. Lengths of episodes are given as marks, which divide their simulated time into equal
/// intervals.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "run/course.h"

namespace traffic::train {

/// Stores the progress of the episodes of a trial. On each seed, every controller runs one episode.
class TrialSchedule {
 public:
  /// @param processes number of episodes that run at the same time
  /// @param marks number of marks after mark 0; the last one is the end of the whole episode
  TrialSchedule(std::size_t controllers, int processes, std::int64_t marks);

  /// The progress of an episode. Seeds count from 0.
  Course& course(std::size_t seed, std::size_t controller);

  /// Estimated real time to the end of the first `seeds` seeds, with episodes that end at `mark`.
  /// As long as no episode has shown how fast simulations are, the result is a lower bound.
  [[nodiscard]] double remaining_s(std::size_t seeds, std::int64_t mark) const;

  /// Estimated real time of one more seed that runs to `mark`; 0 if it is not known yet.
  [[nodiscard]] double seed_s(std::int64_t mark) const;

  /// The mark at which episodes should end, so that enough seeds fit into the remaining time. If
  /// three seeds fit that end at the present mark, the mark stays. Otherwise it becomes the last
  /// mark that four seeds can reach. If that is before wanted_mark, it becomes the last mark up to
  /// wanted_mark that two seeds can reach.
  /// @param present the mark at which episodes end at present; the result is not above it
  /// @param wanted_mark the first mark at which episodes are long enough to judge a controller;
  ///   above the number of marks if this is not known
  /// @param left_s remaining real time
  [[nodiscard]] std::int64_t horizon(std::int64_t present, std::int64_t wanted_mark,
                                     double left_s) const;

 private:
  [[nodiscard]] double seconds_to(std::size_t controller, std::int64_t mark) const;
  [[nodiscard]] std::int64_t last_fitting_mark(std::size_t seeds, std::int64_t present,
                                               double left_s) const;

  std::size_t controllers_;
  double processes_;
  std::int64_t marks_;
  std::vector<Course> courses_;  ///< [seeds * controllers]
};

}  // namespace traffic::train
