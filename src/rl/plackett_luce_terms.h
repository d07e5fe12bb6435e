/// One number per state, with its derivatives with respect to the scores of the state's candidates.
#pragma once

#include <torch/types.h>

#include "traffic/rl/segments.h"

namespace traffic::rl {

struct SelectionTerm {
  torch::Tensor value;  ///< [B]
  torch::Tensor slope;  ///< [M] derivative of the state's value with respect to each score
};

/// Log-probability of the picks, and entropy of the first pick. Scores and picks are those of
/// PlackettLuce. Uses tensor operations on any device.
SelectionTerm selection_log_prob_by_operations(const torch::Tensor& scores,
                                               const Segments& segments,
                                               const torch::Tensor& picks);
SelectionTerm selection_entropy_by_operations(const torch::Tensor& scores,
                                              const Segments& segments);

/// The same on the CPU, state by state in plain loops: a state has few candidates, for which
/// launching tensor operations takes many times as long as their arithmetic.
SelectionTerm selection_log_prob_in_loops(const torch::Tensor& scores, const Segments& segments,
                                          const torch::Tensor& picks);
SelectionTerm selection_entropy_in_loops(const torch::Tensor& scores, const Segments& segments);

/// `term.value` as a node for autograd; its derivatives with respect to `scores` are `term.slope`.
torch::Tensor with_slope(const torch::Tensor& scores, const SelectionTerm& term,
                         const Segments& segments);

}  // namespace traffic::rl
