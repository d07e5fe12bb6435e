#include "traffic/model/targets.h"

#include <torch/types.h>

#include "traffic/core/error.h"

namespace traffic::model {
namespace {

/// [H] seconds from now.
torch::Tensor horizon_seconds(int64_t frames, double step_s) {
  TRAFFIC_CHECK(step_s > 0, "a step of {} s", step_s);
  return torch::arange(1, frames + 1, torch::kDouble) * step_s;
}

torch::Tensor free_displacement(const CurrentMotion& now, int64_t frames, double step_s) {
  return torch::outer(now.speed_mps, horizon_seconds(frames, step_s).to(now.speed_mps.options()));
}

/// [H, 4] float32.
torch::Tensor residual_scales(int64_t horizon_frames, double step_s) {
  const torch::Tensor t = horizon_seconds(horizon_frames, step_s);
  const torch::Tensor one = torch::ones_like(t);
  return torch::stack({0.85 * t.pow(1.4), 0.86 * t.pow(0.7), one, one}, 1).to(torch::kFloat);
}

}  // namespace

torch::Tensor to_residuals(const FutureMotion& future, const CurrentMotion& now, double step_s) {
  const int64_t frames = future.displacement_m.size(1);
  const torch::Tensor raw =
      torch::stack({future.displacement_m - free_displacement(now, frames, step_s),
                    future.speed_mps - now.speed_mps.unsqueeze(1), future.acceleration_mps2,
                    future.lane - now.lane.unsqueeze(1)},
                   2);
  return raw / residual_scales(frames, step_s).to(raw.device());
}

FutureMotion to_motion(const torch::Tensor& residuals, const CurrentMotion& now, double step_s) {
  const int64_t frames = residuals.size(1);
  const auto raw = (residuals * residual_scales(frames, step_s).to(residuals.device())).unbind(2);
  return {raw[0] + free_displacement(now, frames, step_s), raw[1] + now.speed_mps.unsqueeze(1),
          raw[2], raw[3] + now.lane.unsqueeze(1)};
}

}  // namespace traffic::model
