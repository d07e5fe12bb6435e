/// A number for each state and its derivatives to the scores of the state's candidates.
#pragma once

#include <torch/types.h>

#include "traffic/rl/segments.h"

namespace traffic::rl {

struct SelectionTerm {
  torch::Tensor value;  ///< [B]
  torch::Tensor slope;  ///< [M] of the state's value to each score
};

/// Logarithm of the probability of picks, and the entropy of the first one, of scores and picks as
/// PlackettLuce has them. By tensor operations, on any device.
SelectionTerm selection_log_prob_by_operations(const torch::Tensor& scores,
                                               const Segments& segments,
                                               const torch::Tensor& picks);
SelectionTerm selection_entropy_by_operations(const torch::Tensor& scores,
                                              const Segments& segments);

/// On the CPU, state by state in plain loops: a state has a few candidates, for which calling
/// tensor operations takes many times as long as their arithmetic.
SelectionTerm selection_log_prob_in_loops(const torch::Tensor& scores, const Segments& segments,
                                          const torch::Tensor& picks);
SelectionTerm selection_entropy_in_loops(const torch::Tensor& scores, const Segments& segments);

/// `term.value` for autograd: the derivatives to `scores` are `term.slope`.
torch::Tensor with_slope(const torch::Tensor& scores, const SelectionTerm& term,
                         const Segments& segments);

}  // namespace traffic::rl
