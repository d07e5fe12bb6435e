// The loss that phase 1 of training minimises.
#include "traffic/model/loss.h"

#include <torch/types.h>

#include "traffic/core/error.h"

namespace traffic::model {
namespace {

/// Mean of `loss`(prediction, target) over all entries, where entries with a false mask count as
/// zero. `mask` broadcasts to `prediction`. The denominator depends on the shape only. The loss of
/// a batch is therefore the mean of the losses of its parts, weighted by their numbers of vehicles.
/// Masked targets do not enter any computation: they may be NaN without affecting the gradient.
template <typename Loss>
torch::Tensor masked_mean(const Loss& loss, const torch::Tensor& prediction,
                          const torch::Tensor& target, const torch::Tensor& mask) {
  const torch::Tensor known = mask.expand_as(prediction);
  const torch::Tensor zero = torch::zeros({}, prediction.options());
  return torch::where(known, loss(prediction, torch::where(known, target, zero)), zero).mean();
}

torch::Tensor smooth_l1(const torch::Tensor& prediction, const torch::Tensor& target) {
  return torch::smooth_l1_loss(prediction, target, at::Reduction::None);
}

torch::Tensor cross_entropy(const torch::Tensor& logit, const torch::Tensor& target) {
  return torch::binary_cross_entropy_with_logits(logit, target, {}, {}, at::Reduction::None);
}

void check(const WorldModelOutput& output, const WorldModelTargets& targets, std::int64_t stage) {
  TRAFFIC_CHECK(stage == 1 || stage == 2, "the stage is {}, expected 1 or 2", stage);
  if (targets.future.sizes() != output.future.sizes() ||
      targets.future_mask.sizes() != output.future.sizes().slice(0, 2) ||
      targets.conflict.sizes() != output.conflict_logit.sizes() ||
      targets.conflict_mask.sizes() != output.conflict_logit.sizes()) {
    throw ShapeError("targets do not fit predictions for {} vehicles and {} frames",
                     output.future.size(0), output.future.size(1));
  }
}

}  // namespace

WorldModelLoss world_model_loss(const WorldModelOutput& output, const WorldModelTargets& targets,
                                std::int64_t stage, const WorldModelLossWeights& weights) {
  check(output, targets, stage);
  WorldModelLoss loss;
  loss.total = masked_mean(smooth_l1, output.next, targets.future.select(1, 0),
                           targets.future_mask.select(1, 0).unsqueeze(1));
  loss.next = loss.total.detach();
  loss.future = torch::zeros_like(loss.next);
  loss.conflict = torch::zeros_like(loss.next);
  if (stage == 1) return loss;

  const torch::Tensor future =
      masked_mean(smooth_l1, output.future, targets.future, targets.future_mask.unsqueeze(2));
  const torch::Tensor conflict =
      masked_mean(cross_entropy, output.conflict_logit, targets.conflict, targets.conflict_mask);
  loss.total = loss.total + weights.future * future + weights.conflict * conflict;
  loss.future = future.detach();
  loss.conflict = conflict.detach();
  return loss;
}

}  // namespace traffic::model
