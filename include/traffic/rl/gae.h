/// Advantages of a rollout, for rewards or costs.
#pragma once

#include <torch/types.h>

namespace traffic::rl {

/// One rollout: T control steps of B environments; with credit per conflict also C conflicts.
/// The flags belong to the environment and hold for all its conflicts.
struct GaeInputs {
  torch::Tensor rewards;      ///< [T, B] or [T, B, C] float32
  torch::Tensor values;       ///< shape of rewards: V(obs_t)
  torch::Tensor next_values;  ///< shape of rewards: V(obs_t+1); of the final obs where truncated
  torch::Tensor terminated;   ///< [T, B] bool: no bootstrap
  torch::Tensor truncated;    ///< [T, B] bool: bootstrap, then cut the recursion
  /// [T, B] int64: number of control periods that a step took; each period is discounted. Needed
  /// where decisions are not equally far apart (a semi-Markov process: Bradtke and Duff 1994).
  /// Undefined: one period.
  torch::Tensor periods = {};
};

/// Generalised advantage estimation over one rollout. The last step bootstraps from its
/// next_values, whether or not its episode continues in the next rollout. Phase 3 passes costs
/// instead of rewards. The recursion runs on the CPU in double precision; tensors on other devices
/// are copied there and back.
/// @return advantages with the shape of rewards, float32, on the device of the inputs, without
///   gradient; the value targets are advantages + values
/// @throws ShapeError if shapes, types or devices disagree
/// Source: Schulman et al. 2016, arXiv:1506.02438.
torch::Tensor gae(const GaeInputs& in, double gamma, double gae_lambda);

}  // namespace traffic::rl
