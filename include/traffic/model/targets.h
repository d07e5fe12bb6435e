/// What the world model predicts: motion relative to driving on at constant velocity, in units in
/// which every horizon weighs about the same.
///
///   residual[h] = (displacement - v * t, speed - v, acceleration, lane - lane now) / scale(t),   t
///   = (h + 1) * step
///
/// scale(t) = 0.85 t^1.4 m, 0.86 t^0.7 m/s, 1 m/s2, 1 lane, t in seconds: about how the spread of
/// the residuals grows.
#pragma once

#include <torch/types.h>

namespace traffic::model {

/// Motion of S vehicles in the frames behind now, in physical units.
struct FutureMotion {
  torch::Tensor displacement_m;     ///< [S, H] growth of the position since now
  torch::Tensor speed_mps;          ///< [S, H]
  torch::Tensor acceleration_mps2;  ///< [S, H]
  torch::Tensor lane;               ///< [S, H]
};

/// The same vehicles now.
struct CurrentMotion {
  torch::Tensor speed_mps;  ///< [S]
  torch::Tensor lane;       ///< [S]
};

/// What residuals are relative to. Lies where the motion does: a copy at each step would make the
/// host wait for a GPU.
struct MotionScales {
  /// @param frames H @param step_s between two of them
  MotionScales(std::int64_t frames, double step_s, torch::Device device = torch::kCPU);

  torch::Tensor horizon_s;  ///< [H] float32, from now
  torch::Tensor residual;   ///< [H, 4] float32: scale(t)
};

/// [S, H, 4] float32.
torch::Tensor to_residuals(const FutureMotion& future, const CurrentMotion& now,
                           const MotionScales& scales);

/// The inverse of to_residuals. @param residuals [S, H, 4]
FutureMotion to_motion(const torch::Tensor& residuals, const CurrentMotion& now,
                       const MotionScales& scales);

}  // namespace traffic::model
