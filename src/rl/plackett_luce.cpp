#include "traffic/rl/plackett_luce.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "check.h"
#include "noise.h"

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
  if (picks.is_cpu() && !(picks < segments_.sizes().unsqueeze(1)).all().item<bool>()) {
    throw ShapeError("plackett_luce: a pick lies beyond its state's candidates");
  }
}

/// In a plain loop on the CPU: a state has a few candidates, for which sorting by tensor operations
/// costs more than everything else in a decision.
torch::Tensor PlackettLuce::top_of(const torch::Tensor& keys, std::int64_t top_k) const {
  if (top_k < 1) throw ShapeError("plackett_luce: top_k is {}, must be over 0", top_k);
  const torch::Tensor key_of = keys.to(torch::kCPU, torch::kFloat64).contiguous();
  const torch::Tensor allowed_of = allowed_.to(torch::kCPU).contiguous();
  const auto* key = key_of.const_data_ptr<double>();
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
  return picks.to(keys.device());
}

torch::Tensor PlackettLuce::sample(const torch::Tensor& uniforms, std::int64_t top_k) const {
  const torch::NoGradGuard no_grad;
  check_like("plackett_luce: uniforms", uniforms, scores_);
  return top_of(scores_.detach() + standard_gumbel(uniforms), top_k);
}

torch::Tensor PlackettLuce::greedy(std::int64_t top_k) const {
  const torch::NoGradGuard no_grad;
  return top_of(scores_.detach(), top_k);
}

/// Logarithm of the sum of exp(score) over the rows of each segment where `mask` holds.
torch::Tensor PlackettLuce::log_sum_exp(const torch::Tensor& mask) const {
  const torch::Tensor masked = scores_.masked_fill(~mask, kLogZero);
  const torch::Tensor highest = segments_.max(masked, kLogZero);
  const torch::Tensor sum = segments_.sum((masked - segments_.expand(highest)).exp() * mask);
  const torch::Tensor none = sum <= 0;
  return (sum.masked_fill(none, 1.0).log() + highest).masked_fill(none, kLogZero);
}

/// `value` [B] with the derivatives `slope` [M] to the scores. Written out because recording every
/// step for autograd takes four times as long as the arithmetic.
torch::Tensor PlackettLuce::with_gradient(const torch::Tensor& value,
                                          const torch::Tensor& slope) const {
  return value + segments_.sum(slope * (scores_ - scores_.detach()));
}

torch::Tensor PlackettLuce::log_prob(const torch::Tensor& picks) const {
  check_picks(picks);
  const std::int64_t M = segments_.rows();
  const std::int64_t K = picks.size(1);
  if (M == 0) return torch::zeros({segments_.count()}, scores_.options());
  torch::Tensor value;
  torch::Tensor slope;
  {
    const torch::NoGradGuard no_grad;
    const torch::Tensor valid = picks >= 0;
    const torch::Tensor none = ~valid;
    const torch::Tensor rows = segments_.starts().unsqueeze(1) + picks;
    const torch::Tensor slot = rows.where(valid, M).flatten();  // row M stands for no pick
    // The number of the pick by which each candidate went, or the last where it stayed.
    torch::Tensor gone_by = torch::full({M + 1}, K - 1, slot.options());
    gone_by.scatter_(0, slot, torch::arange(K, slot.options()).expand_as(picks).flatten());
    torch::Tensor stays = torch::ones({M + 1}, valid.options()).index_fill_(0, slot, false);
    gone_by = gone_by.slice(0, 0, M);
    stays = stays.slice(0, 0, M);

    // What was left before each pick, added up from the last pick to the first: no differences of
    // sums, so nothing cancels when the first picks hold nearly all of the probability.
    const torch::Tensor score =
        scores_.index_select(0, rows.where(valid, 0).flatten()).view_as(picks);
    const torch::Tensor picked = score.masked_fill(none, kLogZero);
    const torch::Tensor rest = log_sum_exp(stays.logical_and(allowed_)).unsqueeze(1);
    const torch::Tensor left =
        torch::cat({rest, picked.flip(1)}, 1).logcumsumexp(1).slice(1, 1).flip(1);
    value = (picked - left).masked_fill(none, 0.0).sum(1);

    // d/ds_i = (1 if picked) - the sum of its probabilities at the picks when it was still there.
    const torch::Tensor until = (-left).masked_fill(none, kLogZero).logcumsumexp(1).flatten();
    const torch::Tensor at = segments_.index() * K + gone_by;
    const torch::Tensor drawn = (scores_ + until.index_select(0, at)).exp() * allowed_;
    slope = (~stays).to(drawn.scalar_type()) - drawn;
  }
  return with_gradient(value, slope);
}

torch::Tensor PlackettLuce::entropy() const {
  torch::Tensor value;
  torch::Tensor slope;
  {
    const torch::NoGradGuard no_grad;
    const torch::Tensor log_sum = log_sum_exp(allowed_);
    const torch::Tensor log_prob = scores_ - segments_.expand(log_sum);
    const torch::Tensor prob = log_prob.exp() * allowed_;
    value = -segments_.sum(prob * log_prob);
    slope = -prob * (log_prob + segments_.expand(value));
  }
  return with_gradient(value, slope);
}

torch::Tensor PlackettLuce::is_choice(std::int64_t top_k) const {
  return segments_.sum(allowed_.to(torch::kFloat32)) > static_cast<double>(top_k);
}

}  // namespace traffic::rl
