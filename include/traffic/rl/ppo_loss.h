/// ppo_loss(), the clipped policy and value loss of PPO. It is a sum that can be added over ranks.
///
/// Every loss is a sum over this rank's terms divided by the number of terms on all ranks
/// (PpoDenominators). The gradients of n ranks, added (not averaged), therefore equal those of one
/// rank on the joined batch, however unevenly the terms are spread. The same holds for gradient
/// accumulation over parts of a minibatch.
#pragma once

#include <torch/types.h>

#include <cstdint>

#include "traffic/rl/parameters.h"

namespace traffic::rl {

/// Terms of the policy loss. There are two kinds of terms: a decision is the command of one
/// vehicle, and a selection is the choice of the vehicles that get commands in a state. Each term
/// has its own clipped ratio. If log_prob is undefined, there are no terms of this kind.
struct PolicyTerms {
  torch::Tensor log_prob;      ///< [D] of the current policy, with gradient
  torch::Tensor old_log_prob;  ///< [D] of the policy that collected the rollout
  torch::Tensor advantages;    ///< [D] as computed by decision_advantages() (advantages.h)
  torch::Tensor entropy = {};  ///< [D] with gradient; undefined means no entropy bonus
  torch::Tensor mask = {};  ///< [D] bool: false where there was no choice; such entries are never
                            ///< read; undefined means that all entries count
};

/// Terms of the value loss: one value per state, or one for each of C conflicts in the state.
/// Values are in standardised units (running_mean_std.h).
struct ValueTerms {
  torch::Tensor values;      ///< [S] or [S, C] of the current value function, with gradient
  torch::Tensor old_values;  ///< shape of values: values of the policy that collected the rollout
  torch::Tensor returns;     ///< shape of values: the targets
  torch::Tensor mask = {};   ///< shape of values, bool: false entries are never read; undefined
                             ///< means that all entries count
};

/// Inputs of one policy update. A decision and a selection have equal weight in the loss. The
/// log-probability of a state's whole action is the sum of those of its selection and decisions.
struct PpoLossInputs {
  PolicyTerms decisions;
  PolicyTerms selections = {};
  ValueTerms values;
};

/// Denominators of the sums: numbers of terms over all ranks. They must be known before the
/// backward pass. The trainer therefore sums the numbers of all minibatches of an epoch over the
/// ranks in advance.
struct PpoDenominators {
  double decisions = 1.0;  ///< number of decisions, the denominator of policy loss and entropy
  double values = 1.0;     ///< number of value terms, the denominator of the value loss
};

/// Parameters of the loss that a schedule may change.
struct PpoCoefficients {
  double clip_range = PpoParameters{}.clip_range;
  double vf_clip_range = PpoParameters{}.vf_clip_range;
  double ent_coef = PpoParameters{}.ent_coef;
  double vf_coef = PpoParameters{}.vf_coef;
};

/// Columns of PpoLoss::sums. Each is a sum over the terms of this rank that count. kDecisions,
/// kSelections and kValues are the numbers of these terms. "Clipped" columns count ratios outside
/// the clip range. "Error" is a return minus the old value.
enum PpoSum : std::int64_t {
  kDecisionLoss,
  kSelectionLoss,
  kDecisionEntropy,
  kSelectionEntropy,
  kDecisionKl,
  kSelectionKl,
  kClippedDecisions,
  kClippedSelections,
  kDecisions,
  kSelections,
  kValueLoss,
  kValues,
  kReturnSum,
  kReturnSquares,
  kErrorSum,
  kErrorSquares,
  kNumPpoSums,
};

struct PpoLoss {
  torch::Tensor loss;  ///< scalar for backward; its sum over ranks is the loss of the joined batch
  torch::Tensor sums;  ///< [kNumPpoSums] float64, no gradient: add over ranks and minibatches, then
                       ///< call ppo_statistics()
};

/// Computes policy loss - ent_coef * entropy + vf_coef * value loss. The policy loss of a term is
/// max(-A r, -A clip(r, 1 - clip_range, 1 + clip_range)), where A is the advantage and r the ratio
/// of the new to the old probability.
/// @throws ShapeError if shapes, types or devices disagree
/// Source: Schulman et al. 2017, arXiv:1707.06347.
PpoLoss ppo_loss(const PpoLossInputs& in, const PpoDenominators& denominators,
                 const PpoCoefficients& coefficients);

/// Sum over the value terms of max((v - R)^2, (v_old + clip(v - v_old, -c, c) - R)^2), a scalar
/// with gradient. v is the value, v_old the old value, R the return and c = vf_clip_range. With c =
/// 0 it is the sum of (v - R)^2.
torch::Tensor value_loss_sum(const ValueTerms& in, double vf_clip_range);

}  // namespace traffic::rl
