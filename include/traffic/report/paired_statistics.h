/// Computes the mean of a sample and its confidence interval, e.g. for the differences between a
/// policy and a baseline on the same seeds.
#pragma once

#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

namespace traffic::report {

/// Statistics of a sample. "Interval" is the 95 % confidence interval of the mean (Student's t).
struct MeanInterval {
  std::int64_t count = 0;
  double mean = 0;
  double deviation = 0;   ///< standard deviation; 0 for a single value
  double half_width = 0;  ///< half the width of the interval; infinite for a single value
  double least = 0;       ///< smallest value
  double most = 0;        ///< largest value

  /// Bounds of the interval.
  [[nodiscard]] double low() const { return mean - half_width; }
  [[nodiscard]] double high() const { return mean + half_width; }
  [[nodiscard]] double standard_error() const {
    return deviation / std::sqrt(static_cast<double>(count));
  }
};

/// @throws Error if there are no values
MeanInterval mean_interval(std::span<const double> values);

/// The differences value - baseline of each pair.
/// @throws Error if the sizes differ
std::vector<double> paired_differences(std::span<const double> values,
                                       std::span<const double> baselines);

/// The t for which a value with Student's t-distribution lies between -t and t with this
/// probability.
/// @param degrees_of_freedom at least 1
double student_t_two_sided(double probability, std::int64_t degrees_of_freedom);

}  // namespace traffic::report
