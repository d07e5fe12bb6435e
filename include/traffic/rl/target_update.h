/// Target networks follow the networks that are trained.
#pragma once

#include <torch/types.h>

namespace traffic::rl {

/// target += tau * (online - target). With tau 1 it becomes the same, to the bit.
/// @param target changed in place; shape, type and device of online
/// @throws ShapeError
/// Source: Lillicrap et al. 2016, arXiv:1509.02971, algorithm 1.
void soft_update(const torch::Tensor& target, const torch::Tensor& online, double tau);

}  // namespace traffic::rl
