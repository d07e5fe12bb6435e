/// Turns the advantages of states into normalised advantages of the decisions made in them.
///
/// Values and advantages are kept separately for each of C conflicts (places where streams of
/// traffic meet), or C is 1. The calls follow in this order: gae, moments_of, a sum of the moments
/// over all ranks, scale_of, decision_advantages.
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

/// Moments for each conflict. The moments of several ranks or batches may be added.
/// @param x values; the last dimension is C, or any shape with conflicts = 1
/// @param conflicts C
/// @param mask shape of x, bool: entries that count; undefined: all entries count
/// @return [3, C] float64 on the CPU
torch::Tensor moments_of(const torch::Tensor& x, std::int64_t conflicts,
                         const torch::Tensor& mask = {});

/// Mean and population standard deviation from moments. A conflict with no entries or no variation
/// gets deviation 1, so that dividing by it changes nothing.
/// @throws ShapeError if moments is not [3, C] float64
Scale scale_of(const torch::Tensor& moments);

/// The D decisions made in S states of C conflicts.
struct DecisionAdvantageInputs {
  torch::Tensor advantages;  ///< [S, C] float, the result of gae
  torch::Tensor state;       ///< [D] int64: the state each decision was made in
  /// [D] int64: the conflict of the vehicle that the decision commands; undefined: 0 (C = 1).
  torch::Tensor conflict = {};
  torch::Tensor own_cost = {};  ///< [D] float, in the reward's units: cost of this decision itself,
                                ///< apart from its effect on traffic; undefined: no cost
};

/// (advantage of the state and conflict - own cost - mean) / deviation, for each decision. A
/// decision may also be the selection of candidates in a state.
/// @return [D], type and device of advantages, without gradient
/// @throws ShapeError if shapes, types or devices disagree
torch::Tensor decision_advantages(const DecisionAdvantageInputs& in, const Scale& scale);

}  // namespace traffic::rl
