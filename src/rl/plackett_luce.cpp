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

PlackettLuce::PlackettLuce(torch::Tensor scores, Segments segments, torch::Tensor allowed)
    : segments_(std::move(segments)), allowed_(std::move(allowed)) {
  check_floating("plackett_luce: scores", scores, 1);
  check_tensor("plackett_luce: scores", scores, {segments_.rows()}, scores.scalar_type(),
               segments_.device());
  if (allowed_.defined()) {
    check_tensor("plackett_luce: allowed", allowed_, {segments_.rows()}, torch::kBool,
                 segments_.device());
    scores_ = scores.masked_fill(~allowed_, kLogZero);
  } else {
    scores_ = std::move(scores);
    allowed_ = torch::ones_like(scores_, torch::kBool);
  }
}

void PlackettLuce::check_picks(const torch::Tensor& picks) const {
  if (!picks.defined() || picks.dim() != 2 || picks.size(1) < 1) {
    throw ShapeError("plackett_luce: picks is {}, expected [B, K]", describe(picks));
  }
  check_tensor("plackett_luce: picks", picks, {segments_.count(), picks.size(1)}, torch::kInt64,
               segments_.device());
  if (may_loop_over(picks) && !(picks < segments_.sizes().unsqueeze(1)).all().item<bool>()) {
    throw ShapeError("plackett_luce: a pick lies beyond its state's candidates");
  }
}

/// In a plain loop on the CPU: a state has a few candidates, for which sorting by tensor operations
/// costs more than everything else in a decision.
torch::Tensor PlackettLuce::top_of(const torch::Tensor& keys, std::int64_t top_k) const {
  if (top_k < 1) throw ShapeError("plackett_luce: top_k is {}, must be over 0", top_k);
  const torch::Tensor allowed_of = allowed_.to(torch::kCPU).contiguous();
  const auto* key = keys.const_data_ptr<double>();
  const auto* allowed = allowed_of.const_data_ptr<bool>();
  const auto* ptr = segments_.ptr().const_data_ptr<std::int64_t>();
  torch::Tensor picks = torch::full({segments_.count(), top_k}, -1, torch::kInt64);
  auto* pick = picks.mutable_data_ptr<std::int64_t>();
  std::vector<std::pair<double, std::int64_t>> order;  // highest key first, then the earlier
  for (std::int64_t b = 0; b < segments_.count(); ++b, pick += top_k) {
    order.clear();
    for (std::int64_t row = ptr[b]; row < ptr[b + 1]; ++row) {
      if (!allowed[row]) continue;
      // What is not a number goes first: it cannot be compared, and its loss will tell.
      const bool number = !std::isnan(key[row]);
      order.emplace_back(number ? -key[row] : -std::numeric_limits<double>::infinity(),
                         row - ptr[b]);
    }
    const auto picked = std::min(order.size(), static_cast<std::size_t>(top_k));
    std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(picked),
                      order.end());
    for (std::size_t i = 0; i < picked; ++i) pick[i] = order[i].second;
  }
  return picks.to(segments_.device());
}

torch::Tensor PlackettLuce::keys_of_scores() const {
  return scores_.to(torch::kCPU, torch::kFloat64, /*non_blocking=*/false, /*copy=*/true)
      .contiguous();
}

torch::Tensor PlackettLuce::sample(const torch::Tensor& uniforms, std::int64_t top_k) const {
  const torch::NoGradGuard no_grad;
  check_like("plackett_luce: uniforms", uniforms, scores_);
  torch::Tensor keys = keys_of_scores();
  const torch::Tensor uniform_of = uniforms.to(torch::kCPU, torch::kFloat64).contiguous();
  const auto* uniform = uniform_of.const_data_ptr<double>();
  auto* key = keys.mutable_data_ptr<double>();
  for (std::int64_t row = 0; row < keys.numel(); ++row) key[row] += standard_gumbel(uniform[row]);
  return top_of(keys, top_k);
}

torch::Tensor PlackettLuce::greedy(std::int64_t top_k) const {
  const torch::NoGradGuard no_grad;
  return top_of(keys_of_scores(), top_k);
}

torch::Tensor PlackettLuce::log_prob(const torch::Tensor& picks) const {
  check_picks(picks);
  const auto term = [&] {
    const torch::NoGradGuard no_grad;
    return may_loop_over(scores_)
               ? selection_log_prob_in_loops(scores_, allowed_, segments_, picks)
               : selection_log_prob_by_operations(scores_, allowed_, segments_, picks);
  };
  return with_slope(scores_, term(), segments_);
}

torch::Tensor PlackettLuce::entropy() const {
  const auto term = [&] {
    const torch::NoGradGuard no_grad;
    return may_loop_over(scores_) ? selection_entropy_in_loops(scores_, allowed_, segments_)
                                  : selection_entropy_by_operations(scores_, allowed_, segments_);
  };
  return with_slope(scores_, term(), segments_);
}

torch::Tensor PlackettLuce::is_choice(std::int64_t top_k) const {
  return segments_.sum(allowed_.to(torch::kFloat32)) > static_cast<double>(top_k);
}

}  // namespace traffic::rl
