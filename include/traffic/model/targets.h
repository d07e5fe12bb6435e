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

/// [S, H, 4] float32.
torch::Tensor to_residuals(const FutureMotion& future, const CurrentMotion& now, double step_s);

/// The inverse of to_residuals. @param residuals [S, H, 4]
FutureMotion to_motion(const torch::Tensor& residuals, const CurrentMotion& now, double step_s);

}  // namespace traffic::model
