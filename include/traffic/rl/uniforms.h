/// Uniform random numbers, from which this module draws all samples.
#pragma once

#include <span>

#include "traffic/core/random.h"

namespace traffic::rl {

/// Fills out with the next numbers of the random stream, uniform in [0, 1) with 24 random bits.
void fill_uniforms(Rng& rng, std::span<float> out);

}  // namespace traffic::rl
