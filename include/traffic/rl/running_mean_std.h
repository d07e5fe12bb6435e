/// Running mean and standard deviation, which scale the value targets.
#pragma once

#include <torch/types.h>

#include <cstdint>

#include "traffic/rl/advantages.h"

namespace traffic::rl {

/// Running mean and standard deviation for each of C conflicts. It is the same on all ranks if
/// update() gets moments that were summed over ranks. The value head works in standardised units;
/// rewards and advantages keep their own units: restore() values before gae, standardise() its
/// targets. Source: Chan et al. 1979 (merging of two samples' moments).
class RunningMeanStd {
 public:
  explicit RunningMeanStd(std::int64_t conflicts);

  /// @param moments [3, C] float64 on the CPU, from moments_of()
  /// @throws ShapeError if it has another shape or type
  void update(const torch::Tensor& moments);

  /// Mean 0 and deviation 1 before the first update; deviation 1 where the data do not vary.
  [[nodiscard]] Scale scale() const;
  /// (x - mean) / deviation, in the type of x. The last dimension of x is C; with C = 1 any shape.
  [[nodiscard]] torch::Tensor standardise(const torch::Tensor& x) const;
  /// The inverse of standardise().
  [[nodiscard]] torch::Tensor restore(const torch::Tensor& x) const;

  /// The whole state, exactly: [3, C] float64 (count, mean, sum of squared deviations).
  [[nodiscard]] torch::Tensor state() const { return state_.clone(); }
  /// @throws ShapeError unless state is [3, C] float64 for the same C, with finite values and with
  ///   counts and sums of squares that are not negative
  void load_state(const torch::Tensor& state);

 private:
  torch::Tensor state_;
};

}  // namespace traffic::rl
