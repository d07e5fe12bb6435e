/// The loss of phase 1.
#pragma once

#include <torch/types.h>

#include <cstdint>

#include "traffic/model/world_model.h"

namespace traffic::model {

struct WorldModelTargets {
  torch::Tensor future;         ///< [S, H, 4] residuals (targets.h); frame 0 is the next state
  torch::Tensor future_mask;    ///< [S, H] bool: the vehicle is still there
  torch::Tensor conflict;       ///< [S] float32, 0 or 1
  torch::Tensor conflict_mask;  ///< [S] bool
};

struct WorldModelLossWeights {
  double future = 0.5;
  double conflict = 0.1;
};

/// Scalars; `total` is what is minimised, the others are its parts before weighting (detached).
struct WorldModelLoss {
  torch::Tensor total;
  torch::Tensor next;
  torch::Tensor future;    ///< zero in stage 1
  torch::Tensor conflict;  ///< zero in stage 1
};

/// smooth-L1(next) in stage 1; in stage 2 also weights.future * smooth-L1(future) +
/// weights.conflict * BCE(conflict). Each is a mean over all S vehicles, what a mask leaves out
/// counting as zero: so the gradients of parts of a batch, weighted by their numbers of vehicles,
/// average to those of the whole. Smooth-L1 has its knee at 1.
/// @throws ShapeError if the targets do not fit the output
WorldModelLoss world_model_loss(const WorldModelOutput& output, const WorldModelTargets& targets,
                                std::int64_t stage, const WorldModelLossWeights& weights = {});

}  // namespace traffic::model
