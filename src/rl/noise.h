/// Random numbers of other distributions, computed from uniform ones, so that the caller's stream
/// of uniforms alone determines every draw.
#pragma once

#include <torch/special.h>
#include <torch/types.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace traffic::rl {

/// Substitute for log(0) that stays finite in sums, so that gradients stay finite, too.
inline constexpr double kLogZero = -1e30;

/// Maps u in [0, 1) to a standard Gumbel variate; 0 counts as half the smallest step of a float
/// uniform.
inline double standard_gumbel(double uniform) {
  return -std::log(-std::log(std::max(uniform, 0x1p-25)));
}

/// Maps u in [0, 1) to a standard normal variate; 0 counts as half the smallest step of a float
/// uniform.
inline torch::Tensor standard_normal(const torch::Tensor& uniforms) {
  return torch::special::ndtri(uniforms.clamp_min(0x1p-25));
}

/// The numbers of a tensor on any device and of any floating type, row by row, for a loop on the
/// host.
std::vector<double> doubles_of(const torch::Tensor& x);

}  // namespace traffic::rl
