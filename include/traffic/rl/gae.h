/// gae(), which computes advantages by generalised advantage estimation (GAE), from rewards or
/// costs.
#pragma once

#include <torch/types.h>

namespace traffic::rl {

/// One rollout: T control steps of B environments. If rewards are separate for each conflict (a
/// place where streams of traffic meet), the tensors have a third dimension of C conflicts.
/// `terminated` and `truncated` hold for all conflicts of an environment.
struct GaeInputs {
  torch::Tensor rewards;      ///< [T, B] or [T, B, C] float32
  torch::Tensor values;       ///< shape of rewards: V(obs_t)
  torch::Tensor next_values;  ///< shape of rewards: V(obs_t+1); at a truncated step the value of
                              ///< the final obs of the episode
  torch::Tensor terminated;   ///< [T, B] bool: the episode terminated; next_values is not used
  torch::Tensor truncated;    ///< [T, B] bool: the episode was truncated; next_values is used, but
                              ///< later steps are not
  /// [T, B] int64: number of control periods that a step took, each discounted by gamma; undefined
  /// means one period for every step. It is needed if the time between decisions varies (a
  /// semi-Markov process: Bradtke and Duff 1994).
  torch::Tensor periods = {};
};

/// Computes the advantages of one rollout. At the end of the rollout it uses next_values, as if the
/// episode were truncated there. For the advantages of costs, pass costs as rewards. The recursion
/// runs on the CPU in double precision; tensors on other devices are copied there and back.
/// @return advantages with the shape of rewards, float32, on the device of the inputs, without
///   gradient; the value targets are advantages + values
/// @throws ShapeError if shapes, types or devices disagree
/// Source: Schulman et al. 2016, arXiv:1506.02438.
torch::Tensor gae(const GaeInputs& in, double gamma, double gae_lambda);

}  // namespace traffic::rl
