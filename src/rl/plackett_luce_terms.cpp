// Log-probability and entropy of PlackettLuce by tensor operations (plackett_luce_terms.h).
#include "plackett_luce_terms.h"

#include <ATen/Dispatch.h>
#include <torch/csrc/autograd/custom_function.h>

#include "noise.h"

namespace traffic::rl {
namespace {

/// Logarithm of the sum of exp(score) over the rows of each segment. Rows with the score kLogZero
/// do not count.
torch::Tensor log_sum_exp(const torch::Tensor& scores, const Segments& segments) {
  const torch::Tensor highest = segments.max(scores, kLogZero);
  const torch::Tensor counts = scores > kLogZero;
  const torch::Tensor sum = segments.sum((scores - segments.expand(highest)).exp() * counts);
  const torch::Tensor none = sum <= 0;
  return (sum.masked_fill(none, 1.0).log() + highest).masked_fill(none, kLogZero);
}

/// Gives autograd a value whose derivatives have been computed already. Letting autograd record
/// every operation takes four times as long as the arithmetic.
struct KnownSlope : torch::autograd::Function<KnownSlope> {
  static torch::Tensor forward(torch::autograd::AutogradContext* context,
                               const torch::Tensor& /*scores*/, const SelectionTerm& term,
                               const Segments& segments) {
    context->save_for_backward({term.slope, segments.index()});
    return term.value;
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 torch::autograd::variable_list grads) {
    const auto saved = context->get_saved_variables();
    return {saved[0] * grads[0].index_select(0, saved[1]), {}, {}};
  }
};

}  // namespace

SelectionTerm selection_log_prob_by_operations(const torch::Tensor& scores,
                                               const Segments& segments,
                                               const torch::Tensor& picks) {
  const std::int64_t M = segments.rows();
  const std::int64_t K = picks.size(1);
  if (M == 0)
    return {torch::zeros({segments.count()}, scores.options()), torch::zeros_like(scores)};
  const torch::Tensor valid = picks >= 0;
  const torch::Tensor none = ~valid;
  const torch::Tensor rows = segments.starts().unsqueeze(1) + picks;
  // masked_fill() and not where(), which would copy its constant from the host.
  const torch::Tensor slot = rows.masked_fill(none, M).flatten();  // row M stands for no pick
  // Index of the pick that removed each candidate; the last pick for candidates that remain.
  torch::Tensor gone_by = torch::full({M + 1}, K - 1, slot.options());
  gone_by.scatter_(0, slot, torch::arange(K, slot.options()).expand_as(picks).flatten());
  torch::Tensor stays = torch::ones({M + 1}, valid.options()).index_fill_(0, slot, false);
  gone_by = gone_by.slice(0, 0, M);
  stays = stays.slice(0, 0, M);

  // Log of the sum of exp(score) over the candidates that remain before each pick. It is summed
  // from the last pick to the first: a difference from the total would lose all digits if the first
  // picks hold nearly all of the probability.
  const torch::Tensor score =
      scores.index_select(0, rows.masked_fill(none, 0).flatten()).view_as(picks);
  const torch::Tensor picked = score.masked_fill(none, kLogZero);
  const torch::Tensor rest =
      log_sum_exp(scores.masked_fill(~stays, kLogZero), segments).unsqueeze(1);
  const torch::Tensor left =
      torch::cat({rest, picked.flip(1)}, 1).logcumsumexp(1).slice(1, 1).flip(1);
  const torch::Tensor value = (picked - left).masked_fill(none, 0.0).sum(1);

  // Derivative with respect to the score of candidate i: 1 if it was picked, else 0, minus the sum
  // of its probabilities at the picks for which it was available.
  const torch::Tensor until = (-left).masked_fill(none, kLogZero).logcumsumexp(1).flatten();
  const torch::Tensor at = segments.index() * K + gone_by;
  const torch::Tensor drawn = (scores + until.index_select(0, at)).exp();
  return {value, (~stays).to(drawn.scalar_type()) - drawn};
}

SelectionTerm selection_entropy_by_operations(const torch::Tensor& scores,
                                              const Segments& segments) {
  const torch::Tensor log_sum = log_sum_exp(scores, segments);
  const torch::Tensor log_prob = scores - segments.expand(log_sum);
  const torch::Tensor prob = log_prob.exp();
  const torch::Tensor value = -segments.sum(prob * log_prob);
  return {value, -prob * (log_prob + segments.expand(value))};
}

torch::Tensor with_slope(const torch::Tensor& scores, const SelectionTerm& term,
                         const Segments& segments) {
  return KnownSlope::apply(scores, term, segments);
}

}  // namespace traffic::rl
