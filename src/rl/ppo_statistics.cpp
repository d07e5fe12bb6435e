// Computes the statistics of PPO's updates that trainers log.
#include "traffic/rl/ppo_statistics.h"

#include <cmath>

#include "check.h"
#include "traffic/rl/ppo_loss.h"

namespace traffic::rl {
namespace {

double mean(double sum, double count) { return count > 0.0 ? sum / count : 0.0; }

double variance(double sum, double squares, double count) {
  const double centre = mean(sum, count);
  return mean(squares, count) - centre * centre;
}

}  // namespace

PpoStatistics ppo_statistics(const torch::Tensor& sums) {
  const torch::Tensor on_cpu = sums.defined() ? sums.cpu().contiguous() : sums;
  check_tensor("ppo_statistics: sums", on_cpu, {kNumPpoSums}, torch::kFloat64, torch::kCPU);
  const auto* sum = on_cpu.const_data_ptr<double>();

  PpoStatistics out;
  out.decisions = sum[kDecisions];
  out.selections = sum[kSelections];
  out.policy_loss = mean(sum[kDecisionLoss] + sum[kSelectionLoss], out.decisions);
  out.value_loss = mean(sum[kValueLoss], sum[kValues]);
  out.entropy = mean(sum[kDecisionEntropy], out.decisions);
  out.selection_entropy = mean(sum[kSelectionEntropy], out.selections);
  out.approx_kl = mean(sum[kDecisionKl] + sum[kSelectionKl], out.decisions);
  out.clip_fraction =
      mean(sum[kClippedDecisions] + sum[kClippedSelections], out.decisions + out.selections);
  const double of_returns = variance(sum[kReturnSum], sum[kReturnSquares], sum[kValues]);
  const double of_errors = variance(sum[kErrorSum], sum[kErrorSquares], sum[kValues]);
  out.explained_variance = of_returns > 0.0 ? 1.0 - of_errors / of_returns : 0.0;
  return out;
}

bool is_kl_over(double approx_kl, double target_kl) {
  if (!std::isfinite(approx_kl)) return true;
  return target_kl > 0.0 && approx_kl > 1.5 * target_kl;
}

}  // namespace traffic::rl
