/// Fits the episodes of a trial into a limited real time. From the progress of running episodes, it
/// estimates how many more episodes fit, and how long episodes may be.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "run/course.h"

namespace traffic::train {

/// The progress of the episodes of a trial. To run a seed means one episode for each controller.
class TrialSchedule {
 public:
  /// @param processes number of episodes that run at the same time
  /// @param marks number of marks after mark 0; the last one is the end of the whole episode
  TrialSchedule(std::size_t controllers, int processes, std::int64_t marks);

  /// The progress of an episode. Seeds count from 0.
  Course& course(std::size_t seed, std::size_t controller);

  /// Estimated real time to the end of the first `seeds` seeds, with episodes that end at `mark`.
  /// It is a lower bound as long as no episode shows how fast simulations are.
  [[nodiscard]] double remaining_s(std::size_t seeds, std::int64_t mark) const;

  /// Estimated real time of one more seed that runs to `mark`; 0 if it is not known yet.
  [[nodiscard]] double seed_s(std::int64_t mark) const;

  /// The mark at which episodes should end, so that enough seeds fit into the remaining time. If
  /// three seeds with whole episodes fit, episodes stay whole. Otherwise the mark is the last one
  /// that four seeds can reach; if that is before wanted_mark, the last one that two seeds can
  /// reach.
  /// @param present the present end of episodes; the result is not above it
  /// @param wanted_mark the first mark at which episodes show enough; above the number of marks if
  ///   this is not known
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
