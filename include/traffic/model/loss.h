/// world_model_loss(), which phase 1 of training minimises: how much the predictions of the world
/// model differ from recorded traffic.
#pragma once

#include <torch/types.h>

#include <cstdint>

#include "traffic/model/world_model.h"

namespace traffic::model {

/// Targets for S vehicles and the H frames of the horizon.
struct WorldModelTargets {
  torch::Tensor future;         ///< [S, H, 4] residuals (targets.h); index 0 is the next frame
  torch::Tensor future_mask;    ///< [S, H] bool: whether the vehicle is still present
  torch::Tensor conflict;       ///< [S] float32: 1 if the vehicle gets into a conflict, else 0
  torch::Tensor conflict_mask;  ///< [S] bool: whether `conflict` is known
};

/// Weights of the terms that stage 2 adds (see world_model_loss()).
struct WorldModelLossWeights {
  double future = 0.5;
  double conflict = 0.1;
};

/// Scalars. Training minimises `total`. The members `next`, `future` and `conflict` are its terms
/// before weighting, detached from autograd.
struct WorldModelLoss {
  torch::Tensor total;
  torch::Tensor next;      ///< term of the next frame
  torch::Tensor future;    ///< zero in stage 1
  torch::Tensor conflict;  ///< zero in stage 1
};

/// Computes the loss of one of two training stages. In stage 1 it is smooth-L1(next). Stage 2 adds
/// weights.future * smooth-L1(future) + weights.conflict * BCE(conflict), where BCE is the binary
/// cross-entropy. The threshold of smooth-L1 is 1.
///
/// Each term is a mean over all S vehicles, in which entries with a false mask count as zero. If a
/// batch is divided into parts, its gradient is therefore the mean of the gradients of the parts,
/// weighted by their numbers of vehicles.
/// @throws ShapeError if the targets do not fit the output
WorldModelLoss world_model_loss(const WorldModelOutput& output, const WorldModelTargets& targets,
                                std::int64_t stage, const WorldModelLossWeights& weights = {});

}  // namespace traffic::model
