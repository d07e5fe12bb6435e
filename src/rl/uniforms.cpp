// Draws the uniform random numbers from which samples are computed.
#include "traffic/rl/uniforms.h"

namespace traffic::rl {

void fill_uniforms(Rng& rng, std::span<float> out) {
  // A float between 0 and 1 can hold 24 bits; rounding a double to float could give 1.
  for (float& u : out) u = static_cast<float>(rng.next_u64() >> 40) * 0x1p-24F;
}

}  // namespace traffic::rl
