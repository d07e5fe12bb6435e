/// fill_uniforms(), which draws the uniform random numbers from which this module computes all
/// samples.
#pragma once

#include <span>

#include "traffic/core/random.h"

namespace traffic::rl {

/// Fills `out` with the next numbers of the random stream, uniform in [0, 1) with 24 random bits
/// each.
void fill_uniforms(Rng& rng, std::span<float> out);

}  // namespace traffic::rl
