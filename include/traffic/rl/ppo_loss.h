/// The clipped losses of PPO as sums that can be added over ranks.
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

/// Terms of the policy loss, each with its own clipped ratio: either the commands of vehicles
/// (decisions), or the choice of vehicles in a state (selections). If log_prob is undefined, there
/// are no terms of this kind.
struct PolicyTerms {
  torch::Tensor log_prob;      ///< [D] of the current policy, with gradient
  torch::Tensor old_log_prob;  ///< [D] of the policy that collected the rollout
  torch::Tensor advantages;    ///< [D] of the state or conflict, minus the decision's own cost
  torch::Tensor entropy = {};  ///< [D] with gradient; undefined: no entropy bonus
  torch::Tensor mask = {};  ///< [D] bool: false where there was no choice; such entries are never
                            ///< read. Undefined: all entries count
};

/// One value per state, or one for each of C conflicts, in standardised units
/// (running_mean_std.h).
struct ValueTerms {
  torch::Tensor values;      ///< [S] or [S, C] of the current value function, with gradient
  torch::Tensor old_values;  ///< shape of values: values of the policy that collected the rollout
  torch::Tensor returns;     ///< shape of values: the targets
  torch::Tensor mask = {};  ///< shape of values, bool: false entries are never read; undefined: all
};

/// Inputs of one policy update. A decision and a selection have equal weight, because their
/// log-probabilities add up to that of the state's whole action.
struct PpoLossInputs {
  PolicyTerms decisions;
  PolicyTerms selections = {};
  ValueTerms values;
};

/// Denominators of the sums: numbers of terms over all ranks. They must be known before the
/// backward pass; the trainer sums those of all minibatches of an epoch over the ranks at once.
struct PpoDenominators {
  double decisions = 1.0;  ///< counted decisions; for policy loss and entropy
  double values = 1.0;     ///< counted value terms
};

/// Parameters of the loss that a schedule may change.
struct PpoCoefficients {
  double clip_range = PpoParameters{}.clip_range;
  double vf_clip_range = PpoParameters{}.vf_clip_range;
  double ent_coef = PpoParameters{}.ent_coef;
  double vf_coef = PpoParameters{}.vf_coef;
};

/// Columns of PpoLoss::sums.
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

/// Sum over the terms of max((v - R)^2, (v_old + clip(v - v_old, -c, c) - R)^2), a scalar with
/// gradient, where R is the return and c is vf_clip_range. With c = 0 it is the sum of (v - R)^2.
torch::Tensor value_loss_sum(const ValueTerms& in, double vf_clip_range);

}  // namespace traffic::rl
