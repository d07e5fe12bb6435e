#include "run/selection.h"

#include <cmath>

#include "traffic/report/paired_statistics.h"

namespace traffic::train {

bool Selection::prefers(double excess, std::span<const double> gains) {
  const bool comparable = gains.size() == best_gains_.size();  // else their number was changed
  bool higher = !comparable || excess < best_excess_;
  bool near = false;
  if (comparable && excess == best_excess_) {
    std::vector<double> differences;
    for (std::size_t i = 0; i < gains.size(); ++i) differences.push_back(gains[i] - best_gains_[i]);
    const report::MeanInterval difference = report::mean_interval(differences);
    const double standard_error =
        difference.deviation / std::sqrt(static_cast<double>(difference.count));
    higher = difference.mean > 0.0;
    near = difference.mean >= -standard_error;
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
