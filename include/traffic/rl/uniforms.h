/// The random numbers that every draw of this module is made of.
#pragma once

#include <span>

#include "traffic/core/random.h"

namespace traffic::rl {

/// The next numbers of a stream, uniform in [0, 1) with 24 random bits.
void fill_uniforms(Rng& rng, std::span<float> out);

}  // namespace traffic::rl
