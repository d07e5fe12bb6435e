// Converts the motion of vehicles to the residuals that the world model predicts, and back.
#include "traffic/model/targets.h"

#include <torch/types.h>

#include "traffic/core/error.h"

namespace traffic::model {
namespace {

/// [S, H] displacement of vehicles that keep their speed.
torch::Tensor free_displacement(const CurrentMotion& now, const MotionScales& scales) {
  return torch::outer(now.speed_mps, scales.horizon_s);
}

}  // namespace

MotionScales::MotionScales(std::int64_t frames, double step_s, torch::Device device) {
  TRAFFIC_CHECK(step_s > 0, "step_s is {}, must be positive", step_s);
  const torch::Tensor t = torch::arange(1, frames + 1, torch::kDouble) * step_s;
  const torch::Tensor one = torch::ones_like(t);
  horizon_s = t.to(torch::kFloat).to(device);
  residual = torch::stack({0.85 * t.pow(1.4), 0.86 * t.pow(0.7), one, one}, 1)
                 .to(torch::kFloat)
                 .to(device);
}

torch::Tensor to_residuals(const FutureMotion& future, const CurrentMotion& now,
                           const MotionScales& scales) {
  const torch::Tensor raw =
      torch::stack({future.displacement_m - free_displacement(now, scales),
                    future.speed_mps - now.speed_mps.unsqueeze(1), future.acceleration_mps2,
                    future.lane - now.lane.unsqueeze(1)},
                   2);
  return raw / scales.residual;
}

FutureMotion to_motion(const torch::Tensor& residuals, const CurrentMotion& now,
                       const MotionScales& scales) {
  const auto raw = (residuals * scales.residual).unbind(2);
  return {raw[0] + free_displacement(now, scales), raw[1] + now.speed_mps.unsqueeze(1), raw[2],
          raw[3] + now.lane.unsqueeze(1)};
}

}  // namespace traffic::model
