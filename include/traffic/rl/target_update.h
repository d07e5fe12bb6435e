/// Updates target networks: slowly changing copies of networks, used to compute targets.
#pragma once

#include <torch/types.h>

namespace traffic::rl {

/// target += tau * (online - target). With tau = 1, target becomes a bit-identical copy.
/// @param target changed in place
/// @param online same shape, type and device as target
/// @throws ShapeError
/// Source: Lillicrap et al. 2016, arXiv:1509.02971, algorithm 1.
void soft_update(const torch::Tensor& target, const torch::Tensor& online, double tau);

}  // namespace traffic::rl
