/// RunningMeanStd, the running mean and standard deviation of the returns, with which PPO
/// standardises the targets of the value network.
#pragma once

#include <torch/types.h>

#include <cstdint>

#include "traffic/rl/advantages.h"

namespace traffic::rl {

/// Holds a mean and a standard deviation for each of C conflicts (C may be 1). They are the same on
/// all ranks if update() gets moments that were summed over ranks.
///
/// The value network predicts standardised returns, while rewards and advantages keep their own
/// units. Callers therefore call restore() on values before gae(), and standardise() on the targets
/// of the value network.
/// Source: Chan et al. 1979 (merging of two samples' moments).
class RunningMeanStd {
 public:
  explicit RunningMeanStd(std::int64_t conflicts);

  /// Adds more returns. @param moments [3, C] float64 on the CPU, from moments_of() (advantages.h)
  /// @throws ShapeError if it has another shape or type
  void update(const torch::Tensor& moments);

  /// The present mean and deviation. Before the first update they are 0 and 1. The deviation of a
  /// conflict without variation is 1, too.
  [[nodiscard]] Scale scale() const;
  /// (x - mean) / deviation, in the type of x.
  /// @param x its last dimension is C, but it may have any shape if C is 1
  [[nodiscard]] torch::Tensor standardise(const torch::Tensor& x) const;
  /// The inverse of standardise().
  [[nodiscard]] torch::Tensor restore(const torch::Tensor& x) const;

  /// The whole state: [3, C] float64 with count, mean and sum of squared deviations.
  [[nodiscard]] torch::Tensor state() const { return state_.clone(); }
  /// Restores a result of state().
  /// @throws ShapeError if it is not [3, C] float64 for the same C, if a value is not finite, or if
  ///   a count or a sum of squares is negative
  void load_state(const torch::Tensor& state);

 private:
  torch::Tensor state_;
};

}  // namespace traffic::rl
