/// log_softmax_in_place(), which turns the logits of a single decision into log-probabilities
/// without torch. For a few actions, calling a torch operation takes longer than the arithmetic.
#pragma once

#include <algorithm>
#include <cmath>
#include <span>

namespace traffic::rl {

/// Replaces x by log(softmax(x)). x must not be empty.
template <typename T>
void log_softmax_in_place(std::span<T> x) {
  const T highest = *std::max_element(x.begin(), x.end());
  T sum = 0;
  for (const T logit : x) sum += std::exp(logit - highest);
  const T log_sum = highest + std::log(sum);
  for (T& logit : x) logit -= log_sum;
}

}  // namespace traffic::rl
