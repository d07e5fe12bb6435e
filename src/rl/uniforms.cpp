#include "traffic/rl/uniforms.h"

namespace traffic::rl {

void fill_uniforms(Rng& rng, std::span<float> out) {
  // 24 bits are what a float between 0 and 1 can hold: rounding a double could give 1.
  for (float& u : out) u = static_cast<float>(rng.next_u64() >> 40) * 0x1p-24F;
}

torch::Tensor draw_uniforms(Rng& rng, torch::IntArrayRef sizes) {
  torch::Tensor out = torch::empty(sizes, torch::kFloat32);
  fill_uniforms(rng, {out.mutable_data_ptr<float>(), static_cast<std::size_t>(out.numel())});
  return out;
}

}  // namespace traffic::rl
