#include "traffic/rl/uniforms.h"

namespace traffic::rl {

torch::Tensor draw_uniforms(Rng& rng, torch::IntArrayRef sizes) {
  torch::Tensor out = torch::empty(sizes, torch::kFloat32);
  auto* u = out.mutable_data_ptr<float>();
  // 24 bits are what a float between 0 and 1 can hold: rounding a double could give 1.
  for (std::int64_t i = 0; i < out.numel(); ++i) {
    u[i] = static_cast<float>(rng.next_u64() >> 40) * 0x1p-24F;
  }
  return out;
}

}  // namespace traffic::rl
