#include "run/course.h"

#include <algorithm>
#include <cmath>

namespace traffic::train {

EpisodeMarks EpisodeMarks::of(double episode_s, double step_length_s) {
  constexpr double kMarks = 32.0;
  constexpr double kLongest_s = 60.0;
  const double interval_s =
      std::max(step_length_s, std::min(kLongest_s, std::ceil(episode_s / kMarks)));
  return {.interval_s = interval_s,
          .count = std::max<std::int64_t>(
              1, static_cast<std::int64_t>(std::ceil(episode_s / interval_s)))};
}

bool shows_speed(const Course& course) { return course.is_whole || course.reached_s.size() > 1; }

double seconds_of(const Course& course, std::int64_t mark) {
  const auto& reached = course.reached_s;
  const auto wanted = static_cast<std::size_t>(mark);
  if (wanted < reached.size()) return reached[wanted];
  if (course.is_whole || reached.empty()) return course.elapsed_s;
  const std::size_t last = reached.size() - 1;
  const std::size_t middle = last / 2;
  const double measured_s =
      last == 0 ? 0.0 : (reached[last] - reached[middle]) / static_cast<double>(last - middle);
  const double interval_s = std::max(measured_s, course.elapsed_s - reached[last]);
  return reached[last] + interval_s * static_cast<double>(wanted - last);
}

}  // namespace traffic::train
