/// Converts uniform random numbers to Gumbel and normal random numbers, with which the
/// distributions of this module draw samples. The caller's uniform numbers therefore determine
/// every sample.
#pragma once

#include <torch/special.h>
#include <torch/types.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace traffic::rl {

/// Substitute for log(0) that stays finite in sums, so that gradients stay finite, too.
inline constexpr double kLogZero = -1e30;

/// Maps a uniform number in [0, 1) to a standard Gumbel variate. The uniform numbers are multiples
/// of 2^-24 (uniforms.h); 0, which has no finite result, is replaced by half of this step.
inline double standard_gumbel(double uniform) {
  return -std::log(-std::log(std::max(uniform, 0x1p-25)));
}

/// Maps uniform numbers in [0, 1) to standard normal variates. 0 is replaced as in
/// standard_gumbel().
inline torch::Tensor standard_normal(const torch::Tensor& uniforms) {
  return torch::special::ndtri(uniforms.clamp_min(0x1p-25));
}

/// Copies the numbers of a tensor to the CPU, row by row. The tensor may be on any device and of
/// any floating-point type.
std::vector<double> doubles_of(const torch::Tensor& x);

}  // namespace traffic::rl
