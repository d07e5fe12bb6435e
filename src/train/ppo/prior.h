/// The prior is a copy of the vehicles' policy at the end of imitation. A penalty keeps the policy
/// near the prior while PPO continues to train it.
#pragma once

#include <cstdint>

#include "policy/policy.h"
#include "ppo/targets.h"
#include "rollouts/experience.h"
#include "traffic/checkpoint/snapshot.h"
#include "traffic/config/config.h"

namespace traffic::train {

/// The penalty subtracts coef * log(pi_old / prior) from the advantage of each decision. Here
/// pi_old is the probability of the decision under the policy before the update, and `prior` its
/// probability under the prior. While the policy pi is still pi_old, the gradient of this penalty
/// is the gradient of coef * KL(pi | prior), so the loss needs no other term. Source: Schulman et
/// al. 2017, arXiv:1704.06440, section 2.
class Prior {
 public:
  Prior(const config::Config& config, const model::ControllerInputs& widths, torch::Device device);

  /// Copies the policy as the prior. @param iteration number of iterations so far
  void set(const Policy& policy, std::int64_t iteration);
  /// The coefficient in an iteration. It falls linearly from imitation.prior_coef at the call of
  /// set() to 0 at the end of the training. Before the call of set() it is 0.
  [[nodiscard]] double coef(std::int64_t iteration) const;
  /// Subtracts the penalty from the advantages of decisions and selections.
  /// @param all the whole experience, on the policy's device
  /// @param targets must contain the old log-probabilities
  /// @return sum of log(pi_old / prior) over the decisions of this rank
  double pull(const Minibatch& all, double coef, PpoTargets& targets);

  void save_to(checkpoint::Snapshot& snapshot) const;
  /// @throws CheckpointError if a part is missing or does not fit
  void restore_from(const checkpoint::Snapshot& snapshot);

 private:
  double first_coef_;
  std::int64_t iterations_;  ///< iterations of the whole training
  Policy policy_;
  std::int64_t since_ = -1;  ///< iteration of set(); -1 before it
};

}  // namespace traffic::train
