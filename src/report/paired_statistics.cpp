// Computes means and confidence intervals with Student's t-distribution.
#include "traffic/report/paired_statistics.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "traffic/core/error.h"

namespace traffic::report {
namespace {

/// Probability that a value with Student's t-distribution lies between -t and t.
/// Source: Abramowitz and Stegun 1964, 26.7.3 and 26.7.4.
double within(double t, std::int64_t degrees) {
  const double theta = std::atan(t / std::sqrt(static_cast<double>(degrees)));
  const double cos2 = std::cos(theta) * std::cos(theta);
  const bool odd = degrees % 2 == 1;
  double term = odd ? std::cos(theta) : 1.0;
  double sum = degrees == 1 ? 0.0 : term;
  for (std::int64_t k = odd ? 3 : 2; k <= degrees - 2; k += 2) {
    term *= cos2 * static_cast<double>(k - 1) / static_cast<double>(k);
    sum += term;
  }
  const double even = std::sin(theta) * sum;
  return odd ? 2.0 / std::numbers::pi * (theta + even) : even;
}

}  // namespace

double student_t_two_sided(double probability, std::int64_t degrees_of_freedom) {
  TRAFFIC_CHECK(probability > 0.0 && probability < 1.0,
                "the probability is {}, expected a number between 0 and 1", probability);
  TRAFFIC_CHECK(degrees_of_freedom >= 1, "the degrees of freedom are {}, expected at least 1",
                degrees_of_freedom);
  double low = 0.0;
  double high = 1.0;
  while (within(high, degrees_of_freedom) < probability) high *= 2.0;
  constexpr int kHalvings = 100;  // more than a double has bits
  for (int i = 0; i < kHalvings; ++i) {
    const double middle = 0.5 * (low + high);
    (within(middle, degrees_of_freedom) < probability ? low : high) = middle;
  }
  return 0.5 * (low + high);
}

MeanInterval mean_interval(std::span<const double> values) {
  TRAFFIC_CHECK(!values.empty(), "there are no values, so they have no mean");
  MeanInterval out{.count = static_cast<std::int64_t>(values.size())};
  const auto n = static_cast<double>(values.size());
  for (const double value : values) out.mean += value / n;
  double squares = 0.0;
  for (const double value : values) squares += (value - out.mean) * (value - out.mean);
  out.least = *std::min_element(values.begin(), values.end());
  out.most = *std::max_element(values.begin(), values.end());
  if (values.size() == 1) {
    out.half_width = std::numeric_limits<double>::infinity();
    return out;
  }
  out.deviation = std::sqrt(squares / (n - 1.0));
  constexpr double kConfidence = 0.95;
  out.half_width = student_t_two_sided(kConfidence, out.count - 1) * out.deviation / std::sqrt(n);
  return out;
}

std::vector<double> paired_differences(std::span<const double> values,
                                       std::span<const double> baselines) {
  TRAFFIC_CHECK(values.size() == baselines.size(),
                "there are {} values and {} baselines, expected the same number of both",
                values.size(), baselines.size());
  std::vector<double> differences;
  for (std::size_t i = 0; i < values.size(); ++i) differences.push_back(values[i] - baselines[i]);
  return differences;
}

}  // namespace traffic::report
