/// The median of a list of numbers, for the watches of this folder.
#pragma once

#include <algorithm>
#include <vector>

namespace traffic::train {

/// Median of at least one value; of an even number of values the upper of the two middle ones.
inline double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace traffic::train
