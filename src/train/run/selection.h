/// Selection of the best parameters of a training.
#pragma once

#include <torch/types.h>

#include <optional>
#include <span>
#include <vector>

#include "traffic/report/paired_statistics.h"

namespace traffic::train {

/// Compares evaluations that all used the same seeds.
///
/// The highest of many noisy means is probably a lucky one. The latest evaluation is therefore
/// preferred unless its mean is lower than the highest by more than one standard error of the
/// paired difference. Source: the one-standard-error rule of Breiman et al. 1984, "Classification
/// and Regression Trees", section 3.4.3.
class Selection {
 public:
  /// @param excess by how much a limit is exceeded, which takes precedence over gains; 0: within
  ///   the limit
  /// @param gains one per seed
  /// @return whether to keep the parameters of this evaluation instead of earlier ones
  bool prefers(double excess, std::span<const double> gains);

  /// Whether the gains have fallen significantly below the highest ones (95 % interval of the
  /// paired difference) while the limit is met no better.
  [[nodiscard]] bool is_fall(double excess, std::span<const double> gains) const;

  [[nodiscard]] double best_excess() const { return best_excess_; }
  [[nodiscard]] torch::Tensor best_gains() const;  ///< [seeds] float64
  void restore(double best_excess, const torch::Tensor& best_gains);

 private:
  /// Paired difference from the highest gains; nothing if those are for other seeds.
  [[nodiscard]] std::optional<report::MeanInterval> difference(std::span<const double> gains) const;

  double best_excess_ = 0.0;
  std::vector<double> best_gains_;  ///< gains of the best evaluation so far; empty before the first
};

}  // namespace traffic::train
