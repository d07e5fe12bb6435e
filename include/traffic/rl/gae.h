/// Advantages of a rollout, of rewards and of costs alike.
#pragma once

#include <torch/types.h>

namespace traffic::rl {

/// One rollout: T control steps of B environments; with credit per conflict also C conflicts.
/// The flags belong to the environment and hold for all its conflicts.
struct GaeInputs {
  torch::Tensor rewards;      ///< [T, B] or [T, B, C] float32
  torch::Tensor values;       ///< as rewards: V(obs_t)
  torch::Tensor next_values;  ///< as rewards: V(obs_t+1), of the final obs where truncated
  torch::Tensor terminated;   ///< [T, B] bool: no bootstrap
  torch::Tensor truncated;    ///< [T, B] bool: bootstrap, then cut the recursion
  /// [T, B] int64: periods that a step took, each of which is discounted, where decisions are not
  /// all as far apart (a semi-Markov process: Bradtke and Duff 1994); undefined: one.
  torch::Tensor periods = {};
};

/// Generalised advantage estimation over one rollout. The last step bootstraps from its
/// next_values, whether or not its episode goes on in the next rollout. For phase 3, costs in place
/// of rewards. The recursion runs on the CPU in double precision; inputs elsewhere are copied there
/// and back.
/// @return advantages, shaped as rewards, float32, on the device of the inputs, without gradient;
///         the targets of the value are advantages + values
/// @throws ShapeError if shapes, types or devices disagree
/// Source: Schulman et al. 2016, arXiv:1506.02438.
torch::Tensor gae(const GaeInputs& in, double gamma, double gae_lambda);

}  // namespace traffic::rl
