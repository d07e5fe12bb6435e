/// Mean and deviation of everything seen so far: the scale of value targets.
#pragma once

#include <torch/types.h>

#include <cstdint>

#include "traffic/rl/advantages.h"

namespace traffic::rl {

/// Running mean and deviation of each of C conflicts. Fed with moments that were added over ranks,
/// it is the same on all of them. The value head works in standardised units; rewards and
/// advantages stay in their own: restore() values before gae, standardise() its targets. Source:
/// Chan et al. 1979 (merging of two samples' moments).
class RunningMeanStd {
 public:
  explicit RunningMeanStd(std::int64_t conflicts);

  /// @param moments [3, C] float64 on the CPU, of moments_of()
  /// @throws ShapeError if it is anything else
  void update(const torch::Tensor& moments);

  /// Before the first update mean 0 and deviation 1; without variation deviation 1.
  [[nodiscard]] Scale scale() const;
  /// (x - mean) / deviation; the last dimension of x is C, or anything with C = 1. Type of x.
  [[nodiscard]] torch::Tensor standardise(const torch::Tensor& x) const;
  /// The inverse of standardise().
  [[nodiscard]] torch::Tensor restore(const torch::Tensor& x) const;

  /// Everything there is to save, exactly: [3, C] float64 (count, mean, sum of squared deviations).
  [[nodiscard]] torch::Tensor state() const { return state_.clone(); }
  /// @throws ShapeError if state is not [3, C] float64 of this C, with finite values, counts and
  /// sums
  ///         of squares not negative
  void load_state(const torch::Tensor& state);

 private:
  torch::Tensor state_;
};

}  // namespace traffic::rl
