#include "run/selection.h"

namespace traffic::train {

std::optional<report::MeanInterval> Selection::difference(std::span<const double> gains) const {
  if (gains.empty() || gains.size() != best_gains_.size()) return std::nullopt;
  return report::mean_interval(report::paired_differences(gains, best_gains_));
}

bool Selection::is_fall(double excess, std::span<const double> gains) const {
  const auto difference = this->difference(gains);
  return difference && excess >= best_excess_ && difference->high() < 0.0;
}

bool Selection::prefers(double excess, std::span<const double> gains) {
  const auto difference = this->difference(gains);
  bool higher = !difference || excess < best_excess_;
  bool near = false;
  if (difference && excess == best_excess_) {
    higher = difference->mean > 0.0;
    near = difference->mean >= -difference->standard_error();
  }
  if (higher) {
    best_excess_ = excess;
    best_gains_.assign(gains.begin(), gains.end());
  }
  return higher || near;
}

torch::Tensor Selection::best_gains() const { return torch::tensor(best_gains_, torch::kDouble); }

void Selection::restore(double best_excess, const torch::Tensor& best_gains) {
  best_excess_ = best_excess;
  const auto* first = best_gains.const_data_ptr<double>();
  best_gains_.assign(first, first + best_gains.numel());
}

}  // namespace traffic::train
