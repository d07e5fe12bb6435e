/// From the advantages of states to those of the decisions made in them, on one scale.
///
/// Order of work: gae -> moments_of -> (the trainer adds moments over ranks) -> scale_of ->
/// decision_advantages.
#pragma once

#include <torch/types.h>

#include <cstdint>

namespace traffic::rl {

/// Mean and deviation of each conflict.
struct Scale {
  torch::Tensor mean;       ///< [C] float64 on the CPU
  torch::Tensor deviation;  ///< [C] float64 on the CPU, over 0
};

/// Rows of moments: count, sum, sum of squares.
enum MomentRow : std::int64_t { kCount, kSum, kSquares, kNumMomentRows };

/// Moments of each conflict, to be added over ranks and batches.
/// @param x any shape whose last dimension is C, or any shape at all with conflicts = 1
/// @param mask shape of x, bool: entries that count; undefined: all
/// @return [3, C] float64 on the CPU
torch::Tensor moments_of(const torch::Tensor& x, std::int64_t conflicts,
                         const torch::Tensor& mask = {});

/// Mean and deviation (of the population) from moments. A conflict without entries or without
/// variation gets deviation 1, so that dividing by it changes nothing.
/// @throws ShapeError if moments is not [3, C] float64
Scale scale_of(const torch::Tensor& moments);

/// The decisions made in S states of C conflicts.
struct DecisionAdvantageInputs {
  torch::Tensor advantages;     ///< [S, C] float, as gae gave them
  torch::Tensor state;          ///< [D] int64: the state each decision was made in
  torch::Tensor conflict = {};  ///< [D] int64: its CV's conflict; undefined: 0 (C = 1)
  torch::Tensor own_cost = {};  ///< [D] float, in the reward's units: what this decision cost
                                ///< beside its effect on the traffic; undefined: none
};

/// (A of its state and conflict - own cost - mean) / deviation for each decision; for a selection
/// of a state or of a state and conflict likewise.
/// @return [D], type and device of advantages, without gradient
/// @throws ShapeError if shapes, types or devices disagree
torch::Tensor decision_advantages(const DecisionAdvantageInputs& in, const Scale& scale);

}  // namespace traffic::rl
