/// The losses of PPO by tensor operations, for tensors that are not on the CPU (ppo_loss_terms.h).
#include <array>

#include "ppo_loss_terms.h"
#include "traffic/rl/distributions.h"

namespace traffic::rl {
namespace {

/// Replaces x by 0, with gradient 0, where the mask is false, even if x is NaN or infinite there.
/// Returns x unchanged if the mask is undefined.
torch::Tensor only(const torch::Tensor& x, const torch::Tensor& mask) {
  return mask.defined() ? x.masked_fill(~mask, 0.0) : x;
}

torch::Tensor sum64(const torch::Tensor& x) { return x.detach().sum(torch::kFloat64); }

torch::Tensor count64(const torch::Tensor& x, const torch::Tensor& mask) {
  const auto options = x.options().dtype(torch::kFloat64).requires_grad(false);
  if (mask.defined()) return mask.sum(torch::kFloat64);
  return torch::full({}, static_cast<double>(x.numel()), options);
}

/// Sums over the terms of one kind: decisions or selections.
struct PolicySums {
  torch::Tensor loss;     ///< with gradient
  torch::Tensor entropy;  ///< with gradient
  torch::Tensor kl;
  torch::Tensor clipped;
  torch::Tensor count;
};

PolicySums policy_sums(const PolicyTerms& in, double clip_range) {
  const torch::Tensor advantages = only(in.advantages, in.mask).detach();
  const torch::Tensor log_ratio = only(in.log_prob - in.old_log_prob.detach(), in.mask);
  const torch::Tensor ratio = log_ratio.exp();
  const torch::Tensor clipped_ratio = ratio.clamp(1.0 - clip_range, 1.0 + clip_range);
  PolicySums out;
  out.loss = torch::max(-advantages * ratio, -advantages * clipped_ratio).sum();
  out.entropy =
      in.entropy.defined() ? only(in.entropy, in.mask).sum() : torch::zeros_like(out.loss);
  out.kl = sum64(kl_k3(log_ratio.detach()));
  out.clipped = ((ratio.detach() - 1.0).abs() > clip_range).sum(torch::kFloat64);
  out.count = count64(in.log_prob, in.mask);
  return out;
}

/// Sums from which the explained variance is computed.
struct FitSums {
  torch::Tensor return_sum;
  torch::Tensor return_squares;
  torch::Tensor error_sum;
  torch::Tensor error_squares;
};

FitSums fit_sums(const ValueTerms& in) {
  const torch::Tensor returns = only(in.returns.detach().to(torch::kFloat64), in.mask);
  const torch::Tensor error = only(returns - in.old_values.detach(), in.mask);
  return {returns.sum(), returns.square().sum(), error.sum(), error.square().sum()};
}

}  // namespace

torch::Tensor value_loss_sum_by_operations(const ValueTerms& in, double vf_clip_range) {
  const torch::Tensor returns = in.returns.detach();
  torch::Tensor loss = only(in.values - returns, in.mask).square();
  if (vf_clip_range > 0.0) {
    const torch::Tensor old_values = in.old_values.detach();
    const torch::Tensor moved = only(in.values - old_values, in.mask);
    const torch::Tensor old_error = only(old_values - returns, in.mask);
    loss = torch::max(loss, (old_error + moved.clamp(-vf_clip_range, vf_clip_range)).square());
  }
  return loss.sum();
}

PpoLoss ppo_loss_by_operations(const PpoLossInputs& in, const PpoDenominators& denominators,
                               const PpoCoefficients& coefficients) {
  const PolicySums decisions = policy_sums(in.decisions, coefficients.clip_range);
  torch::Tensor policy = decisions.loss - coefficients.ent_coef * decisions.entropy;

  const torch::Tensor zero = torch::zeros_like(decisions.count);
  PolicySums selections{zero, zero, zero, zero, zero};
  if (in.selections.log_prob.defined()) {
    selections = policy_sums(in.selections, coefficients.clip_range);
    policy = policy + selections.loss - coefficients.ent_coef * selections.entropy;
  }

  const torch::Tensor value = value_loss_sum_by_operations(in.values, coefficients.vf_clip_range);
  const FitSums fit = fit_sums(in.values);

  std::array<torch::Tensor, kNumPpoSums> sums;
  sums[kDecisionLoss] = sum64(decisions.loss);
  sums[kSelectionLoss] = sum64(selections.loss);
  sums[kDecisionEntropy] = sum64(decisions.entropy);
  sums[kSelectionEntropy] = sum64(selections.entropy);
  sums[kDecisionKl] = decisions.kl;
  sums[kSelectionKl] = selections.kl;
  sums[kClippedDecisions] = decisions.clipped;
  sums[kClippedSelections] = selections.clipped;
  sums[kDecisions] = decisions.count;
  sums[kSelections] = selections.count;
  sums[kValueLoss] = sum64(value);
  sums[kValues] = count64(in.values.values, in.values.mask);
  sums[kReturnSum] = fit.return_sum;
  sums[kReturnSquares] = fit.return_squares;
  sums[kErrorSum] = fit.error_sum;
  sums[kErrorSquares] = fit.error_squares;
  return {policy / denominators.decisions + coefficients.vf_coef * value / denominators.values,
          torch::stack(sums)};
}

}  // namespace traffic::rl
