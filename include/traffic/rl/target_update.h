/// soft_update(), which updates the target networks of off-policy learners. A target network is a
/// slowly changing copy of a trained network (the online network), from which the targets of the
/// losses are computed.
#pragma once

#include <torch/types.h>

namespace traffic::rl {

/// Computes target += tau * (online - target). With tau = 1, target becomes a bit-identical copy.
/// @param target a parameter of the target network, changed in place
/// @param online same shape, type and device as target
/// @throws ShapeError if they differ
/// Source: Lillicrap et al. 2016, arXiv:1509.02971, algorithm 1.
void soft_update(const torch::Tensor& target, const torch::Tensor& online, double tau);

}  // namespace traffic::rl
