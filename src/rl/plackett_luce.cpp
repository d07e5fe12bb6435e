// PlackettLuce: draws the vehicles that get commands, and computes the probability of a draw.
#include "traffic/rl/plackett_luce.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "check.h"
#include "noise.h"
#include "plackett_luce_terms.h"

namespace traffic::rl {

PlackettLuce::PlackettLuce(torch::Tensor scores, Segments segments)
    : scores_(std::move(scores)), segments_(std::move(segments)) {
  check_floating("plackett_luce: scores", scores_, 1);
  check_tensor("plackett_luce: scores", scores_, {segments_.rows()}, scores_.scalar_type(),
               segments_.device());
}

void PlackettLuce::check_picks(const torch::Tensor& picks) const {
  if (!picks.defined() || picks.dim() != 2 || picks.size(1) < 1) {
    throw ShapeError("plackett_luce: picks is {}, expected [B, K]", describe(picks));
  }
  check_tensor("plackett_luce: picks", picks, {segments_.count(), picks.size(1)}, torch::kInt64,
               segments_.device());
  if (picks.is_cpu() && !(picks < segments_.sizes().unsqueeze(1)).all().item<bool>()) {
    throw ShapeError("plackett_luce: a pick is not a candidate of its state");
  }
}

/// Picks the top_k candidates of each state with the highest keys. This is a plain loop on the CPU:
/// a state has few candidates, and sorting them with tensor operations would cost more than the
/// rest of a decision.
torch::Tensor PlackettLuce::top_of(const std::vector<double>& keys, std::int64_t top_k) const {
  if (top_k < 1) throw ShapeError("plackett_luce: top_k is {}, must be positive", top_k);
  const auto* ptr = segments_.ptr().const_data_ptr<std::int64_t>();
  torch::Tensor picks = torch::full({segments_.count(), top_k}, -1, torch::kInt64);
  auto* pick = picks.mutable_data_ptr<std::int64_t>();
  // (-key, candidate); sorted, the highest key comes first, and of equal keys the first candidate.
  std::vector<std::pair<double, std::int64_t>> order;
  for (std::int64_t b = 0; b < segments_.count(); ++b, pick += top_k) {
    order.clear();
    for (std::int64_t row = ptr[b]; row < ptr[b + 1]; ++row) {
      const double key = keys[static_cast<std::size_t>(row)];
      // NaN cannot be compared. It counts as the highest key, so that the candidate is picked and
      // the loss reveals the NaN.
      order.emplace_back(std::isnan(key) ? -std::numeric_limits<double>::infinity() : -key,
                         row - ptr[b]);
    }
    const auto picked = std::min(order.size(), static_cast<std::size_t>(top_k));
    std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(picked),
                      order.end());
    for (std::size_t i = 0; i < picked; ++i) pick[i] = order[i].second;
  }
  return picks.to(segments_.device());
}

torch::Tensor PlackettLuce::sample(const torch::Tensor& uniforms, std::int64_t top_k) const {
  check_like("plackett_luce: uniforms", uniforms, scores_);
  std::vector<double> keys = doubles_of(scores_);
  const std::vector<double> uniform = doubles_of(uniforms);
  for (std::size_t row = 0; row < keys.size(); ++row) keys[row] += standard_gumbel(uniform[row]);
  return top_of(keys, top_k);
}

torch::Tensor PlackettLuce::greedy(std::int64_t top_k) const {
  return top_of(doubles_of(scores_), top_k);
}

torch::Tensor PlackettLuce::log_prob(const torch::Tensor& picks) const {
  check_picks(picks);
  const auto term = [&] {
    const torch::NoGradGuard no_grad;
    return scores_.is_cpu() ? selection_log_prob_in_loops(scores_, segments_, picks)
                            : selection_log_prob_by_operations(scores_, segments_, picks);
  };
  return with_slope(scores_, term(), segments_);
}

torch::Tensor PlackettLuce::entropy() const {
  const auto term = [&] {
    const torch::NoGradGuard no_grad;
    return scores_.is_cpu() ? selection_entropy_in_loops(scores_, segments_)
                            : selection_entropy_by_operations(scores_, segments_);
  };
  return with_slope(scores_, term(), segments_);
}

}  // namespace traffic::rl
