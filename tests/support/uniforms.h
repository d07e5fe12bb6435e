/// Draws uniform random numbers for tests that sample decisions of a policy.
#pragma once

#include <torch/types.h>

#include "traffic/rl/uniforms.h"

namespace traffic::test {

/// @return a float32 tensor on the CPU with uniform numbers in [0, 1)
inline torch::Tensor draw_uniforms(Rng& rng, torch::IntArrayRef sizes) {
  torch::Tensor out = torch::empty(sizes, torch::kFloat32);
  rl::fill_uniforms(rng, {out.mutable_data_ptr<float>(), static_cast<std::size_t>(out.numel())});
  return out;
}

}  // namespace traffic::test
