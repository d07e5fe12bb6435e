/// Which parameters of a training are kept as its best.
#pragma once

#include <torch/types.h>

#include <optional>
#include <span>
#include <vector>

#include "traffic/report/paired_statistics.h"

namespace traffic::train {

/// Compares evaluations that have all run on the same seeds.
///
/// The highest of many noisy means is likely a lucky one. So the last evaluation is preferred
/// unless it is below the highest by more than one standard error of their difference, seed by
/// seed. Source: the one-standard-error rule of Breiman et al. 1984, "Classification and Regression
/// Trees", section 3.4.3.
class Selection {
 public:
  /// @param excess how far a limit is exceeded, which counts before any gain; 0: it is kept
  /// @param gains of each seed
  /// @return whether the parameters of this evaluation are to be kept instead of earlier ones
  bool prefers(double excess, std::span<const double> gains);

  /// Whether these gains are below the highest by more than the 95 % interval of the difference,
  /// seed by seed, for nothing: the limit is kept no better.
  [[nodiscard]] bool is_fall(double excess, std::span<const double> gains) const;

  [[nodiscard]] double best_excess() const { return best_excess_; }
  [[nodiscard]] torch::Tensor best_gains() const;  ///< [seeds] float64
  void restore(double best_excess, const torch::Tensor& best_gains);

 private:
  /// From the highest; nothing where its seeds are others.
  [[nodiscard]] std::optional<report::MeanInterval> difference(std::span<const double> gains) const;

  double best_excess_ = 0.0;
  std::vector<double> best_gains_;  ///< of the highest so far; empty before the first
};

}  // namespace traffic::train
