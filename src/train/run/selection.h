/// Decides which evaluation of a training has the best parameters. Trainings of controllers and the
/// final comparison use it.
#pragma once

#include <torch/types.h>

#include <optional>
#include <span>
#include <vector>

#include "traffic/report/paired_statistics.h"

namespace traffic::train {

/// Compares evaluations that all used the same seeds.
///
/// The highest of many noisy means is probably due to chance. The latest evaluation is therefore
/// preferred to earlier ones even if its mean is lower than the highest mean by up to one standard
/// error of the paired difference. Source: the one-standard-error rule of Breiman et al. 1984,
/// "Classification and Regression Trees", section 3.4.3.
class Selection {
 public:
  /// @param excess by how much a limit of safety or cost is exceeded; 0 if it is met. A smaller
  ///   excess takes precedence over higher gains
  /// @param gains one per seed
  /// @return whether to keep the parameters of this evaluation instead of earlier ones
  bool prefers(double excess, std::span<const double> gains);

  /// Whether the excess is not smaller than the best one, and the gains are significantly below the
  /// highest gains (95 % interval of the paired difference).
  [[nodiscard]] bool is_fall(double excess, std::span<const double> gains) const;

  [[nodiscard]] double best_excess() const { return best_excess_; }
  [[nodiscard]] torch::Tensor best_gains() const;  ///< [seeds] float64
  void restore(double best_excess, const torch::Tensor& best_gains);

 private:
  /// Paired difference from the highest gains; nothing if the numbers of seeds differ.
  [[nodiscard]] std::optional<report::MeanInterval> difference(std::span<const double> gains) const;

  double best_excess_ = 0.0;
  std::vector<double> best_gains_;  ///< gains of the best evaluation so far; empty before the first
};

}  // namespace traffic::train
