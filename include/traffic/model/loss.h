/// The loss of the world model (phase 1).
#pragma once

#include <torch/types.h>

#include <cstdint>

#include "traffic/model/world_model.h"

namespace traffic::model {

struct WorldModelTargets {
  torch::Tensor future;         ///< [S, H, 4] residuals (targets.h); frame 0 is the next state
  torch::Tensor future_mask;    ///< [S, H] bool: whether the vehicle is still present
  torch::Tensor conflict;       ///< [S] float32, 0 or 1
  torch::Tensor conflict_mask;  ///< [S] bool
};

struct WorldModelLossWeights {
  double future = 0.5;
  double conflict = 0.1;
};

/// Scalars. `total` is minimised; the others are its terms before weighting (detached).
struct WorldModelLoss {
  torch::Tensor total;
  torch::Tensor next;
  torch::Tensor future;    ///< zero in stage 1
  torch::Tensor conflict;  ///< zero in stage 1
};

/// Stage 1: smooth-L1(next). Stage 2 adds weights.future * smooth-L1(future) + weights.conflict *
/// BCE(conflict). Each term is a mean over all S vehicles, where masked entries count as zero.
/// Gradients of parts of a batch, weighted by their numbers of vehicles, therefore average to those
/// of the whole batch. The threshold of smooth-L1 is 1.
/// @throws ShapeError if the targets do not fit the output
WorldModelLoss world_model_loss(const WorldModelOutput& output, const WorldModelTargets& targets,
                                std::int64_t stage, const WorldModelLossWeights& weights = {});

}  // namespace traffic::model
