/// Random numbers of other distributions made of uniform ones, so that one stream of uniforms,
/// owned by the caller, decides every draw.
#pragma once

#include <torch/special.h>
#include <torch/types.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace traffic::rl {

/// Stands for the logarithm of 0 and stays finite in sums, so that gradients do too.
inline constexpr double kLogZero = -1e30;

/// u in [0, 1) -> standard Gumbel; 0 counts as half the smallest step of a float uniform.
inline double standard_gumbel(double uniform) {
  return -std::log(-std::log(std::max(uniform, 0x1p-25)));
}

/// u in [0, 1) -> standard normal; 0 counts as half the smallest step of a float uniform.
inline torch::Tensor standard_normal(const torch::Tensor& uniforms) {
  return torch::special::ndtri(uniforms.clamp_min(0x1p-25));
}

/// The numbers of a tensor of any device and floating type, row by row, for a loop on the host.
std::vector<double> doubles_of(const torch::Tensor& x);

}  // namespace traffic::rl
