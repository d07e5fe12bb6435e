/// The clipped losses of PPO as sums that ranks can add up.
///
/// Every loss is a sum over this rank's terms divided by the number of terms on all ranks
/// (PpoDenominators). So the gradients of n ranks, added (not averaged), are those of one rank on
/// the joined batch, however unequally the terms are spread; the same holds for gradient
/// accumulation over parts of a minibatch.
#pragma once

#include <torch/types.h>

#include <cstdint>

#include "traffic/rl/parameters.h"

namespace traffic::rl {

/// Terms whose ratio is clipped each on its own: decisions of CVs, or selections of states.
/// log_prob undefined: there are none of this kind.
struct PolicyTerms {
  torch::Tensor log_prob;      ///< [D] of the policy that learns, with gradient
  torch::Tensor old_log_prob;  ///< [D] of the policy that acted
  torch::Tensor advantages;    ///< [D] of its state or conflict, less its own intervention cost
  torch::Tensor entropy = {};  ///< [D] with gradient; undefined: no bonus
  torch::Tensor mask = {};     ///< [D] bool: false where there was nothing to choose; undefined:
                               ///< all. What the other entries hold is never looked at
};

/// One value a state, or with credit per conflict C of them. In standardised units.
struct ValueTerms {
  torch::Tensor values;      ///< [S] or [S, C] of the value that learns, with gradient
  torch::Tensor old_values;  ///< as values, of the value that acted
  torch::Tensor returns;     ///< as values, the targets
  torch::Tensor mask = {};   ///< as values, bool; undefined: all. Others are never looked at
};

/// A policy step's inputs. Decisions and selections have the same weight, term by term, because
/// their log-probabilities add up to that of the state's whole action.
struct PpoLossInputs {
  PolicyTerms decisions;
  PolicyTerms selections = {};
  ValueTerms values;
};

/// What sums are divided by: numbers over all ranks, known before backward (the trainer reduces
/// those of all minibatches of an epoch at once).
struct PpoDenominators {
  double decisions = 1.0;  ///< decisions that count; of the policy loss and entropy
  double values = 1.0;     ///< value terms that count
};

/// The parameters of the loss that a schedule may move.
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
  torch::Tensor loss;  ///< scalar to call backward on; summed over ranks, the joined batch's loss
  torch::Tensor sums;  ///< [kNumPpoSums] float64, no gradient: add over ranks and minibatches, then
                       ///< ppo_statistics()
};

/// Policy loss - ent_coef * entropy + vf_coef * value loss.
/// The policy loss of a term is max(-A r, -A clip(r, 1 - clip_range, 1 + clip_range)).
/// @throws ShapeError if shapes, types or devices disagree
/// Source: Schulman et al. 2017, arXiv:1707.06347.
PpoLoss ppo_loss(const PpoLossInputs& in, const PpoDenominators& denominators,
                 const PpoCoefficients& coefficients);

/// Sum over the terms of max((v - R)^2, (v_old + clip(v - v_old, -range, range) - R)^2), a scalar
/// with gradient; vf_clip_range 0: of (v - R)^2, as when the value is fitted before the first
/// policy step.
torch::Tensor value_loss_sum(const ValueTerms& in, double vf_clip_range);

}  // namespace traffic::rl
