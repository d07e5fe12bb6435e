/// Draws the uniforms that the distributions' `sample` functions take from a random stream.
#pragma once

#include <torch/types.h>

#include "traffic/rl/uniforms.h"

namespace traffic::test {

/// float32 on the CPU.
inline torch::Tensor draw_uniforms(Rng& rng, torch::IntArrayRef sizes) {
  torch::Tensor out = torch::empty(sizes, torch::kFloat32);
  rl::fill_uniforms(rng, {out.mutable_data_ptr<float>(), static_cast<std::size_t>(out.numel())});
  return out;
}

}  // namespace traffic::test
