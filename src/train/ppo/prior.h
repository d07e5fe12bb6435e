/// What was imitated, as a prior of the policy that learns on.
#pragma once

#include <cstdint>

#include "policy/policy.h"
#include "ppo/targets.h"
#include "rollouts/experience.h"
#include "traffic/checkpoint/snapshot.h"
#include "traffic/config/config.h"

namespace traffic::train {

/// A penalty on the divergence from the policy that had imitated. Taking coef * log(pi_old / prior)
/// off the advantage of each decision gives, at the old policy, the gradient of coef * KL(pi |
/// prior), so that no other loss is needed. Source: Schulman et al. 2017, arXiv:1704.06440, section
/// 2.
class Prior {
 public:
  Prior(const config::Config& config, const model::ControllerInputs& widths, torch::Device device);

  /// Takes the policy as it is after `iteration` iterations.
  void set(const Policy& policy, std::int64_t iteration);
  /// imitation.prior_coef, less what it has fallen by this iteration; 0 before set().
  [[nodiscard]] double coef(std::int64_t iteration) const;
  /// Lowers the targets, whose old log-probabilities are known.
  /// @param all of the experience, on the policy's device
  /// @return sum over its decisions of log(pi_old / prior)
  double pull(const Minibatch& all, double coef, PpoTargets& targets);

  void save_to(checkpoint::Snapshot& snapshot) const;
  /// @throws CheckpointError if a part is missing or does not fit
  void restore_from(const checkpoint::Snapshot& snapshot);

 private:
  double first_coef_;
  std::int64_t iterations_;  ///< of the whole training
  Policy policy_;
  std::int64_t since_ = -1;  ///< iteration; -1: not set
};

}  // namespace traffic::train
