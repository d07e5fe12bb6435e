/// Makes the optimiser steps of the driving policy, and saves and restores the state of its
/// training.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <optional>

#include "driving/policy.h"
#include "optim/adam.h"
#include "optim/loss_scaler.h"
#include "optim/lr_schedule.h"
#include "optim/skipped_steps.h"
#include "traffic/checkpoint/snapshot.h"
#include "traffic/comm/communicator.h"
#include "traffic/comm/flat_arena.h"
#include "traffic/comm/gradient_reducer.h"
#include "traffic/config/config.h"
#include "traffic/core/time_split.h"

namespace traffic::train::driving_policy {

/// Result of a step, equal on all ranks.
struct StepResult {
  double loss = 0.0;       ///< mean over the samples of all ranks
  double grad_norm = 0.0;  ///< norm of the gradient before clipping
  double learning_rate = 0.0;
  double samples = 0.0;  ///< summed over all ranks
};

/// Owns the optimiser of a policy and the running mean of its weights.
class Trainer {
 public:
  /// Collective.
  Trainer(const config::Config& config, Policy& policy, comm::Communicator& communicator,
          TimeSplit& time_split, std::int64_t total_steps);

  /// zero_grad, forward, backward, reduce, clip, step. Collective.
  /// @throws NumericError after too many consecutive steps without a finite gradient
  StepResult step(DrivingLoader& batches);

  [[nodiscard]] std::int64_t global_step() const { return global_step_; }
  [[nodiscard]] std::int64_t total_steps() const { return schedule_.total_steps; }
  [[nodiscard]] std::int64_t skipped_steps() const { return skipped_.total; }
  /// The running mean of the weights over steps, with which the policy drives. [P] in the layout of
  /// the arena.
  [[nodiscard]] const torch::Tensor& mean_weights() const { return mean_weights_; }

  /// Sets both the weights and their mean to the mean weights of a checkpoint.
  void start_from(const checkpoint::Snapshot& snapshot);
  void save_to(checkpoint::Snapshot& snapshot) const;
  /// @throws CheckpointError if a part is missing or does not fit
  void restore_from(const checkpoint::Snapshot& snapshot);

 private:
  void run_part(DrivingLoader& batches);
  void update_mean();

  Policy& policy_;
  comm::Communicator& communicator_;
  TimeSplit& time_split_;
  std::int64_t accumulation_steps_;
  double weight_decay_;
  comm::GradientArena gradients_;
  comm::GradientReducer reducer_;
  bool scales_loss_;
  LossScaler scaler_;
  Adam adam_;
  LrSchedule schedule_;
  torch::Tensor mean_weights_;
  std::array<double, 3> totals_{};  ///< sums of weight * loss and of weight; 1 if the rank failed
  std::optional<Error> failure_;
  std::int64_t global_step_ = 0;
  SkippedSteps skipped_;
};

/// While an object of this class exists, the policy has the mean weights. The destructor restores
/// the weights.
class WithMeanWeights {
 public:
  WithMeanWeights(Policy& policy, const Trainer& trainer);
  ~WithMeanWeights();
  WithMeanWeights(const WithMeanWeights&) = delete;
  WithMeanWeights& operator=(const WithMeanWeights&) = delete;

 private:
  Policy& policy_;
  torch::Tensor weights_;
};

}  // namespace traffic::train::driving_policy
