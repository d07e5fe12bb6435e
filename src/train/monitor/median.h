/// The median of a list of numbers, for loss_watch.cpp and straggler_watch.cpp.
#pragma once

#include <algorithm>
#include <vector>

namespace traffic::train {

/// The median of at least one value. If the number of values is even, it is the larger of the two
/// middle values.
inline double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace traffic::train
