/// Computes the normalised advantages of single decisions, such as the command of one vehicle, from
/// the advantages of the states in which the decisions were made.
///
/// Trainers of PPO call, in this order: gae, moments_of, a sum of the moments over all ranks,
/// scale_of, decision_advantages. Values and advantages may be separate for each of C conflicts
/// (places where streams of traffic meet); otherwise C is 1.
#pragma once

#include <torch/types.h>

#include <cstdint>

namespace traffic::rl {

/// Mean and standard deviation for each conflict.
struct Scale {
  torch::Tensor mean;       ///< [C] float64 on the CPU
  torch::Tensor deviation;  ///< [C] float64 on the CPU, positive
};

/// Rows of moments: count, sum, sum of squares.
enum MomentRow : std::int64_t { kCount, kSum, kSquares, kNumMomentRows };

/// Count, sum and sum of squares for each conflict. The results of several ranks or batches may be
/// added.
/// @param x numbers; its last dimension is C, but it may have any shape if C is 1
/// @param conflicts C
/// @param mask bool in the shape of x: entries that count; undefined means that all entries count
/// @return [3, C] float64 on the CPU
torch::Tensor moments_of(const torch::Tensor& x, std::int64_t conflicts,
                         const torch::Tensor& mask = {});

/// Mean and population standard deviation from moments. A conflict with no entries or no variation
/// gets deviation 1, so that a division by it changes nothing.
/// @throws ShapeError if moments is not [3, C] float64
Scale scale_of(const torch::Tensor& moments);

/// The D decisions made in S states of C conflicts.
struct DecisionAdvantageInputs {
  torch::Tensor advantages;  ///< [S, C] float, the result of gae
  torch::Tensor state;       ///< [D] int64: index of the state in which each decision was made
  /// [D] int64: the conflict of the vehicle that the decision commands; may be undefined if C is 1.
  torch::Tensor conflict = {};
  torch::Tensor own_cost = {};  ///< [D] float, in the reward's units: cost of the decision itself,
                                ///< apart from its effect on traffic; undefined without such costs
};

/// Computes (advantage of the state and conflict - own cost - mean) / deviation for each decision.
/// A decision may also be the selection of candidates in a state.
/// @return [D], with the type and device of `advantages`, without gradient
/// @throws ShapeError if shapes, types or devices disagree
torch::Tensor decision_advantages(const DecisionAdvantageInputs& in, const Scale& scale);

}  // namespace traffic::rl
