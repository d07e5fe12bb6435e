/// The log-probability and the entropy of PlackettLuce (plackett_luce.h), with hand-written
/// derivatives. There is an implementation with tensor operations for any device, and a faster one
/// with loops for the CPU.
#pragma once

#include <torch/types.h>

#include "traffic/rl/segments.h"

namespace traffic::rl {

/// One number for each of B states, with its derivatives with respect to the scores of the state's
/// candidates. M is the number of candidates of all states.
struct SelectionTerm {
  torch::Tensor value;  ///< [B]
  torch::Tensor slope;  ///< [M] derivative of the state's value with respect to each score
};

/// These two functions compute the log-probability of the picks and the entropy of the first pick,
/// by tensor operations on any device. PlackettLuce explains scores and picks.
SelectionTerm selection_log_prob_by_operations(const torch::Tensor& scores,
                                               const Segments& segments,
                                               const torch::Tensor& picks);
SelectionTerm selection_entropy_by_operations(const torch::Tensor& scores,
                                              const Segments& segments);

/// These two functions compute the same on the CPU by plain loops, state by state. A state has few
/// candidates; starting tensor operations for them takes many times as long as the arithmetic.
SelectionTerm selection_log_prob_in_loops(const torch::Tensor& scores, const Segments& segments,
                                          const torch::Tensor& picks);
SelectionTerm selection_entropy_in_loops(const torch::Tensor& scores, const Segments& segments);

/// Returns `term.value` as a result that autograd differentiates. Its derivatives with respect to
/// `scores` are `term.slope`.
torch::Tensor with_slope(const torch::Tensor& scores, const SelectionTerm& term,
                         const Segments& segments);

}  // namespace traffic::rl
