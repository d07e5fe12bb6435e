/// Computes the statistics of PPO's policy updates that trainers log, and decides whether an
/// iteration ends early.
#pragma once

#include <torch/types.h>

namespace traffic::rl {

/// Means over the terms of all minibatches and ranks. PolicyTerms (ppo_loss.h) explains decisions
/// and selections.
struct PpoStatistics {
  double policy_loss = 0.0;         ///< decisions and selections together, per decision
  double value_loss = 0.0;          ///< per value term
  double entropy = 0.0;             ///< entropy of a decision, nats
  double selection_entropy = 0.0;   ///< entropy of the first pick of a selection, nats
  double approx_kl = 0.0;           ///< decisions and selections together, per decision
  double clip_fraction = 0.0;       ///< share of ratios outside the clip range
  double explained_variance = 0.0;  ///< how well the old values predict the returns: 1 is perfect,
                                    ///< 0 no better than a constant; 0 if all returns are equal
  double decisions = 0.0;           ///< number of decisions
  double selections = 0.0;          ///< number of selections
};

/// @param sums [kNumPpoSums] float64: PpoLoss::sums, added over minibatches and ranks
/// @throws ShapeError if sums has another shape or type
PpoStatistics ppo_statistics(const torch::Tensor& sums);

/// Whether to end the epochs of this iteration early. This is the case if the KL divergence from
/// the policy that collected the rollout exceeds 1.5 * target_kl, or is not a number. With
/// target_kl = 0, a finite divergence never ends them.
/// @param approx_kl mean over all ranks, so that all ranks stop together
bool is_kl_over(double approx_kl, double target_kl);

}  // namespace traffic::rl
