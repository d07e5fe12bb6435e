/// The Plackett-Luce distribution on the CPU, state by state in plain loops: a state has a few
/// candidates, for which calling tensor operations takes many times as long as their arithmetic.
#pragma once

#include <torch/types.h>

#include "plackett_luce_terms.h"
#include "traffic/rl/segments.h"

namespace traffic::rl {

/// Scores, allowed and picks as PlackettLuce has them, on the CPU.
SelectionTerm selection_log_prob_in_loops(const torch::Tensor& scores, const torch::Tensor& allowed,
                                          const Segments& segments, const torch::Tensor& picks);
SelectionTerm selection_entropy_in_loops(const torch::Tensor& scores, const torch::Tensor& allowed,
                                         const Segments& segments);

}  // namespace traffic::rl
