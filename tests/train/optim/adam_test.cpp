#include "train/optim/adam.h"

#include <gmock/gmock.h>
#include <torch/optim/adam.h>
#include <torch/types.h>
#include <torch/utils.h>

#include <cmath>

#include "traffic/core/error.h"
#include "train/optim/adam_update.h"

namespace traffic::train {
namespace {

TEST(Adam, EqualsTorchAdamWithL2PenaltyOverManySteps) {
  torch::manual_seed(1);
  const torch::Tensor start = torch::randn({1003});
  torch::Tensor ours = start.clone();
  torch::Tensor theirs = start.clone().set_requires_grad(true);
  Adam adam(ours, {.beta1 = 0.9, .beta2 = 0.999, .eps = 1e-8, .weight_decay = 1e-2});
  torch::optim::Adam reference({theirs}, torch::optim::AdamOptions(1e-2).weight_decay(1e-2));
  for (int step = 0; step < 50; ++step) {
    const torch::Tensor gradient = torch::randn({1003});
    theirs.mutable_grad() = gradient * 0.5;
    reference.step();
    adam.step(gradient, 1e-2, 0.5);
  }
  // Both compute the same formula, but with float32 operations in another order. The results differ
  // by a few units in the last place per step.
  EXPECT_TRUE(torch::allclose(ours, theirs.detach(), 1e-5, 1e-6));
}

TEST(Adam, TensorOperationsGiveTheSameUpdateAsTheFusedLoop) {
  torch::manual_seed(2);
  const torch::Tensor start = torch::randn({777});
  torch::Tensor fused = start.clone();
  const torch::Tensor composed = start.clone();
  const torch::Tensor exp_avg = torch::zeros({777});
  const torch::Tensor exp_avg_sq = torch::zeros({777});
  Adam adam(fused, {.beta1 = 0.8, .beta2 = 0.9, .eps = 1e-6, .weight_decay = 1e-2});
  for (int step = 1; step <= 20; ++step) {
    const torch::Tensor gradient = torch::randn({777});
    adam.step(gradient, 1e-2, 0.5);
    adam_by_operations(
        composed, gradient, exp_avg, exp_avg_sq,
        {.gradient_scale = 0.5F,
         .weight_decay = 1e-2F,
         .beta1 = 0.8F,
         .beta2 = 0.9F,
         .step_size = static_cast<float>(1e-2 / (1.0 - std::pow(0.8, step))),
         .second_moment = static_cast<float>(1.0 / std::sqrt(1.0 - std::pow(0.9, step))),
         .eps = 1e-6F});
  }
  // The float32 operations have another order, so results differ by a few units in the last place.
  EXPECT_TRUE(torch::allclose(composed, fused, 1e-5, 1e-6));
  EXPECT_TRUE(torch::allclose(exp_avg, adam.exp_avg(), 1e-5, 1e-6));
}

TEST(Adam, ContinuesToTheBitFromARestoredState) {
  torch::manual_seed(2);
  torch::Tensor whole = torch::randn({64});
  torch::Tensor resumed = whole.clone();
  const std::vector<torch::Tensor> gradients{torch::randn({64}), torch::randn({64}),
                                             torch::randn({64})};
  Adam first(whole, {});
  for (const auto& gradient : gradients) first.step(gradient, 1e-3, 1.0);

  Adam before(resumed, {});
  before.step(gradients[0], 1e-3, 1.0);
  Adam after(resumed, {});
  after.restore(before.exp_avg().clone(), before.exp_avg_sq().clone(), before.num_steps());
  after.step(gradients[1], 1e-3, 1.0);
  after.step(gradients[2], 1e-3, 1.0);
  EXPECT_TRUE(torch::equal(whole, resumed));
}

TEST(Adam, RefusesTensorsThatDoNotFit) {
  EXPECT_THROW(Adam(torch::zeros({2, 2}), {}), ShapeError);
  EXPECT_THROW(Adam(torch::zeros({4}, torch::kDouble), {}), ShapeError);
  Adam adam(torch::zeros({4}), {});
  EXPECT_THROW(adam.step(torch::zeros({5}), 1e-3, 1.0), ShapeError);
  EXPECT_THROW(adam.restore(torch::zeros({3}), torch::zeros({4}), 1), ShapeError);
}

}  // namespace
}  // namespace traffic::train
