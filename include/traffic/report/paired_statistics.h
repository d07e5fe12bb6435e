/// Means of paired differences with their intervals.
#pragma once

#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

namespace traffic::report {

/// Statistics of a sample: mean, standard deviation, extremes, and the half-width of the 95 %
/// interval of the mean (Student's t; infinite for one value).
struct MeanInterval {
  std::int64_t count = 0;
  double mean = 0;
  double deviation = 0;
  double half_width = 0;
  double least = 0;
  double most = 0;

  [[nodiscard]] double low() const { return mean - half_width; }
  [[nodiscard]] double high() const { return mean + half_width; }
  [[nodiscard]] double standard_error() const {
    return deviation / std::sqrt(static_cast<double>(count));
  }
};

/// @throws Error if there are no values
MeanInterval mean_interval(std::span<const double> values);

/// value - baseline, pair by pair.
/// @throws Error if the sizes differ
std::vector<double> paired_differences(std::span<const double> values,
                                       std::span<const double> baselines);

/// The t for which a t-distributed value lies within -t .. t with this probability.
/// @param degrees_of_freedom at least 1
double student_t_two_sided(double probability, std::int64_t degrees_of_freedom);

}  // namespace traffic::report
