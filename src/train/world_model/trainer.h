/// Makes the optimiser steps of the training `world_model`, and saves and restores the state of the
/// optimiser.
#pragma once

#include <optional>
#include <utility>

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
#include "world_model/batch_feeder.h"
#include "world_model/networks.h"
#include "world_model/rank_shares.h"

namespace traffic::train {

/// Result of a step; equal on all ranks.
struct StepResult {
  double loss = 0.0;       ///< mean over the vehicles of all ranks
  double grad_norm = 0.0;  ///< norm of the gradient before clipping
  double learning_rate = 0.0;
  double samples = 0.0;  ///< summed over all ranks
  double loss_scale = 1.0;
  bool skipped = false;  ///< the gradient was not finite, so no update was made
  Stage stage = Stage::kNextState;
};

class StepTotals;

/// Owns the optimiser of the networks and counts its steps.
class WorldModelTrainer {
 public:
  /// Collective. @param total_steps number of steps of the whole training
  WorldModelTrainer(const config::Config& config, WorldModelNetworks& model,
                    comm::Communicator& communicator, TimeSplit& time_split,
                    std::int64_t total_steps);

  /// zero_grad, forward, backward, reduce, clip, step. Collective.
  /// @param batches must have a whole step left in the epoch
  /// @throws NumericError after too many consecutive steps without a finite gradient
  StepResult step(BatchFeeder& batches);

  /// Samples and compute time of the forward and backward passes since the last call.
  ComputeSpeed take_speed() { return std::exchange(speed_, {}); }

  [[nodiscard]] std::int64_t global_step() const { return global_step_; }
  [[nodiscard]] std::int64_t total_steps() const { return schedule_.total_steps; }
  [[nodiscard]] std::int64_t skipped_steps() const { return skipped_.total; }
  [[nodiscard]] const comm::ParameterArena& parameters() const { return parameters_; }

  /// Copies the weights of a checkpoint, without the state of its optimiser.
  /// @throws CheckpointError if weights are missing or do not fit
  void start_from(const checkpoint::Snapshot& snapshot);
  void save_to(checkpoint::Snapshot& snapshot) const;
  /// @throws CheckpointError if a part is missing or does not fit
  void restore_from(const checkpoint::Snapshot& snapshot);

 private:
  [[nodiscard]] Stage stage() const;
  [[nodiscard]] FedBatch next_batch(BatchFeeder& batches);
  void prepare_batch(BatchFeeder& batches);
  void add_loss(const WorldModelForward& forward, const FedBatch& fed, StepTotals& totals);
  [[nodiscard]] WorldModelForward run_forward(const data::Batch& batch);
  void run_backward(torch::Tensor& loss, double factor);
  void run_part(BatchFeeder& batches, StepTotals& totals);
  void declare_unused_parameters();
  void count_skipped();

  WorldModelNetworks& model_;
  comm::Communicator& communicator_;
  TimeSplit& time_split_;
  std::int64_t accumulation_steps_;
  std::int64_t stage1_steps_;
  comm::ParameterArena parameters_;
  comm::GradientArena gradients_;
  comm::GradientReducer reducer_;
  bool scales_loss_;
  LossScaler scaler_;
  Adam adam_;
  LrSchedule schedule_;
  /// The stage for which declare_unused_parameters() was last called.
  std::optional<Stage> declared_stage_;
  std::int64_t global_step_ = 0;
  SkippedSteps skipped_;
  ComputeSpeed speed_;
};

}  // namespace traffic::train
