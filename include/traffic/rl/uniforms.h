/// The random numbers that every draw of this module is made of.
#pragma once

#include <torch/types.h>

#include <span>

#include "traffic/core/random.h"

namespace traffic::rl {

/// The next numbers of a stream, uniform in [0, 1) with 24 random bits.
void fill_uniforms(Rng& rng, std::span<float> out);
/// The same as a float32 tensor on the CPU: what `sample` of the distributions takes.
torch::Tensor draw_uniforms(Rng& rng, torch::IntArrayRef sizes);

}  // namespace traffic::rl
