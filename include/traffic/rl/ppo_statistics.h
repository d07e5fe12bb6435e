/// What the logs show of policy steps, and the decision to stop early, from sums over all ranks.
#pragma once

#include <torch/types.h>

namespace traffic::rl {

/// Means over the terms of all minibatches and ranks whose sums were added.
struct PpoStatistics {
  double policy_loss = 0.0;         ///< of decisions and selections, per decision
  double value_loss = 0.0;          ///< per value term
  double entropy = 0.0;             ///< of a decision, nats
  double selection_entropy = 0.0;   ///< of a selection's first pick, nats
  double approx_kl = 0.0;           ///< of decisions and selections, per decision
  double clip_fraction = 0.0;       ///< share of ratios outside the clip range
  double explained_variance = 0.0;  ///< of the returns by the values that acted; 1 is perfect, 0 no
                                    ///< better than a constant. 0 where the returns are all equal
  double decisions = 0.0;
  double selections = 0.0;
};

/// @param sums [kNumPpoSums] float64: PpoLoss::sums, added over minibatches and ranks
/// @throws ShapeError if it is anything else
PpoStatistics ppo_statistics(const torch::Tensor& sums);

/// True when the epochs of this iteration are to end: the KL since the rollout is over 1.5 times
/// the target, or is not a number. To be asked of the reduced KL, so that all ranks stop together.
/// target_kl 0: never for a finite KL.
bool is_kl_over(double approx_kl, double target_kl);

}  // namespace traffic::rl
