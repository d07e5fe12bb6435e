/// The progress of a running episode in simulated and real time. The search for scripts and the
/// trials of traffic_doctor estimate from it how much real time an episode still needs.
#pragma once

#include <cstdint>
#include <vector>

namespace traffic::train {

/// Marks divide the simulated time of an episode into equal intervals. Mark 0 is its start, after
/// the simulation has been loaded; the last mark is its end.
struct EpisodeMarks {
  double interval_s = 1.0;  ///< simulated time from mark to mark
  std::int64_t count = 1;   ///< number of marks after mark 0

  /// Divides an episode into at most 32 intervals of whole seconds, or into intervals of a minute
  /// if it is longer than 32 minutes.
  /// @param episode_s simulated time of the whole episode
  /// @param step_length_s length of a simulation step, the minimum length of an interval
  static EpisodeMarks of(double episode_s, double step_length_s);
};

/// The progress of one episode.
struct Course {
  bool started = false;
  /// Whether the episode is over, at its own end or at the end of the compared part.
  bool ended = false;
  bool is_whole = false;  ///< whether the episode has reached its own end
  /// Real time from the start of its process until now or until the episode ended.
  double elapsed_s = 0;
  std::vector<double>
      reached_s{};  ///< [marks reached] real time from the start of its process to each mark
};

/// Whether the speed of the simulation can be estimated from the course.
bool shows_speed(const Course& course);
/// Estimates the real time from the start of an episode's process to a mark. For marks that the
/// episode has not reached yet, the function assumes the mean time per interval in the second half
/// of the intervals so far. If more time has passed since the last mark, it assumes that time. It
/// leaves out the first half, because simulations become slower as the network fills.
double seconds_of(const Course& course, std::int64_t mark);

/// Share of the time of a search or a trial before which the speed of the simulations does not
/// shorten any episode.
inline constexpr double kLookShare = 0.15;

}  // namespace traffic::train
