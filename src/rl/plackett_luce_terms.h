/// A number for each state and its derivatives to the scores of the state's candidates.
#pragma once

#include <torch/types.h>

#include "traffic/rl/segments.h"

namespace traffic::rl {

struct SelectionTerm {
  torch::Tensor value;  ///< [B]
  torch::Tensor slope;  ///< [M] of the state's value to each score
};

/// The same by tensor operations, on any device. Scores of what is not allowed are kLogZero.
SelectionTerm selection_log_prob_by_operations(const torch::Tensor& scores,
                                               const torch::Tensor& allowed,
                                               const Segments& segments,
                                               const torch::Tensor& picks);
SelectionTerm selection_entropy_by_operations(const torch::Tensor& scores,
                                              const torch::Tensor& allowed,
                                              const Segments& segments);

/// `term.value` for autograd: the derivatives to `scores` are `term.slope`.
torch::Tensor with_slope(const torch::Tensor& scores, const SelectionTerm& term,
                         const Segments& segments);

}  // namespace traffic::rl
