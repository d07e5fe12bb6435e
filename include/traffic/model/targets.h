/// Converts the future motion of vehicles to the residuals that the world model predicts, and back.
/// A residual is the deviation from driving on at constant velocity. It is divided by a typical
/// deviation, so that near and distant frames have about equal weight in the loss.
///
// clang-format off
///   residual[h] = (displacement - v * t, speed - v, acceleration, lane - current lane) / scale(t)
///   with speed v in the current frame, and t = (h + 1) * seconds between two frames
// clang-format on
///
/// For the four components, scale(t) is 0.85 t^1.4 m, 0.86 t^0.7 m/s, 1 m/s2 and 1 lane, with t in
/// seconds. scale(t) approximates how the typical deviation grows with t.
#pragma once

#include <torch/types.h>

namespace traffic::model {

/// Motion of S vehicles in the H frames after the current one, in physical units.
struct FutureMotion {
  torch::Tensor displacement_m;     ///< [S, H] change of the position since the current frame
  torch::Tensor speed_mps;          ///< [S, H]
  torch::Tensor acceleration_mps2;  ///< [S, H]
  torch::Tensor lane;               ///< [S, H] index of the lane
};

/// Motion of the same vehicles in the current frame.
struct CurrentMotion {
  torch::Tensor speed_mps;  ///< [S]
  torch::Tensor lane;       ///< [S]
};

/// Constants of the residuals. They stay on the device of the motion tensors, because copying them
/// in each step would make the host wait for the GPU.
struct MotionScales {
  /// @param frames H
  /// @param step_s seconds between two frames
  MotionScales(std::int64_t frames, double step_s, torch::Device device = torch::kCPU);

  torch::Tensor horizon_s;  ///< [H] float32, seconds from the current frame
  torch::Tensor residual;   ///< [H, 4] float32: scale(t)
};

/// @return [S, H, 4] float32
torch::Tensor to_residuals(const FutureMotion& future, const CurrentMotion& now,
                           const MotionScales& scales);

/// The inverse of to_residuals.
/// @param residuals [S, H, 4]
FutureMotion to_motion(const torch::Tensor& residuals, const CurrentMotion& now,
                       const MotionScales& scales);

}  // namespace traffic::model
