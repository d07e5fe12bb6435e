/// Trains the policy of traffic lights by proximal policy optimisation (PPO). All ranks train
/// together.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "lights/experience.h"
#include "lights/learner.h"
#include "optim/slice_optimiser.h"
#include "policy/light_policy.h"
#include "ppo/epochs.h"
#include "traffic/checkpoint/snapshot.h"
#include "traffic/comm/communicator.h"
#include "traffic/comm/flat_arena.h"
#include "traffic/config/config.h"
#include "traffic/rl/ppo_loss.h"
#include "traffic/rl/running_mean_std.h"

namespace traffic::train::lights {

/// The result of an update; equal on all ranks.
struct LightsUpdate {
  PpoEpochsResult epochs;
  double learning_rate = 0.0;
};

/// Owns the optimiser, the mean weights and the scale of returns of the policy.
class PpoLearner final : public Learner {
 public:
  /// Collective.
  PpoLearner(const config::Config& config, LightPolicy& policy, comm::Communicator& communicator);

  /// Makes the update of an iteration. The new parameters do not depend on how the episodes are
  /// distributed over ranks, except for rounding. Collective.
  /// @param episodes histories of this rank
  /// @param num_episodes number of episodes of all ranks
  /// @return nothing if the update was abandoned because the user asked the program to stop
  /// @throws NumericError after too many steps in a row without a finite gradient
  std::optional<LightsUpdate> update(const std::vector<EpisodeHistory>& episodes,
                                     std::int64_t num_episodes, std::int64_t iteration);

  std::optional<Learned> learn(const std::vector<EpisodeHistory>& episodes,
                               std::int64_t num_episodes, std::int64_t iteration) override;

  void set_step_factor(double factor) override { step_factor_ = factor; }
  [[nodiscard]] double gamma() const override { return ppo_.gamma; }
  [[nodiscard]] const comm::ParameterArena& parameters() const override { return parameters_; }
  [[nodiscard]] WeightsInUse weights_in_use() const override { return mean_.use(); }
  [[nodiscard]] std::int64_t skipped_steps() const override { return optimiser_.skipped_steps(); }

  /// Loads the weights and the scale of returns, without the state of the optimiser.
  void start_from(const checkpoint::Snapshot& snapshot) override;
  void restore_from(const checkpoint::Snapshot& snapshot) override;
  void save_to(checkpoint::Snapshot& snapshot) const override;

 private:
  /// Standardised inputs of the PPO loss.
  struct Targets {
    torch::Tensor advantages;  ///< [N] standardised over all ranks, then scaled for each light
    torch::Tensor values;      ///< [N] estimates at decision time, standardised by scale_
    torch::Tensor returns;     ///< [N] standardised by scale_
  };
  Targets make_targets(const Experience& experience);
  [[nodiscard]] std::int64_t states_of_minibatch(const Experience& experience) const;
  std::vector<rl::PpoDenominators> denominators_of(const Experience& experience,
                                                   const std::vector<torch::Tensor>& minibatches);
  rl::PpoLoss loss_of(const Experience& experience, const Targets& targets,
                      const torch::Tensor& decisions, const rl::PpoDenominators& denominators);

  config::Ppo ppo_;
  std::int64_t iterations_;  ///< number of iterations of the whole training
  std::uint64_t seed_;
  double step_factor_ = 1.0;  ///< factor on the learning rate
  LightPolicy& policy_;
  comm::Communicator& communicator_;
  comm::ParameterArena parameters_;
  comm::GradientArena gradients_;
  SliceOptimiser optimiser_;
  MeanWeights mean_;
  rl::RunningMeanStd scale_{1};  ///< running scale of the returns
};

}  // namespace traffic::train::lights
