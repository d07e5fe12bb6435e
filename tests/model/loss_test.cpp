#include "traffic/model/loss.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "references.h"
#include "traffic/core/error.h"
#include "traffic/model/targets.h"

namespace traffic::model {
namespace {

using namespace testing;  // NOLINT: the references in this folder
using torch::Tensor;

constexpr std::int64_t kVehicles = 7;
constexpr std::int64_t kStepsAhead = 3;

WorldModelOutput random_output(std::uint64_t seed) {
  torch::manual_seed(seed);
  const auto draw = [](at::IntArrayRef sizes) {
    return (2.0 * torch::randn(sizes)).requires_grad_(true);
  };
  return {draw({kVehicles, 4}), draw({kVehicles, kStepsAhead, 4}), draw({kVehicles}), {}, {}};
}

double smooth_l1(double error) {
  return std::abs(error) < 1 ? 0.5 * error * error : std::abs(error) - 0.5;
}
double at(const Tensor& t, std::initializer_list<at::indexing::TensorIndex> index) {
  return t.index(at::ArrayRef<at::indexing::TensorIndex>(index.begin(), index.size()))
      .item<double>();
}

struct Sums {
  double next = 0;
  double future = 0;
  double conflict = 0;
};
/// Sums of the losses over all entries, before they are divided by the numbers of entries.
Sums sums_by_hand(const WorldModelOutput& out, const WorldModelTargets& t) {
  Sums sums;
  for (std::int64_t s = 0; s < kVehicles; ++s) {
    for (std::int64_t h = 0; h < kStepsAhead; ++h) {
      if (!t.future_mask[s][h].item<bool>()) continue;
      for (std::int64_t c = 0; c < 4; ++c) {
        const double target = at(t.future, {s, h, c});
        if (h == 0) sums.next += smooth_l1(at(out.next, {s, c}) - target);
        sums.future += smooth_l1(at(out.future, {s, h, c}) - target);
      }
    }
    if (!t.conflict_mask[s].item<bool>()) continue;
    const double x = at(out.conflict_logit, {s});
    const double probability = 1.0 / (1.0 + std::exp(-x));
    sums.conflict -=
        at(t.conflict, {s}) > 0.5 ? std::log(probability) : std::log(1.0 - probability);
  }
  return sums;
}

TEST(WorldModelLoss, IsTheMeanOverAllEntries) {
  const WorldModelOutput out = random_output(1);
  const WorldModelTargets targets = random_targets(kVehicles, kStepsAhead, 2);
  const Sums sums = sums_by_hand(out, targets);
  const double next = sums.next / (kVehicles * 4);
  const double future = sums.future / (kVehicles * kStepsAhead * 4);
  const double conflict = sums.conflict / kVehicles;
  // The tolerance is for means of some hundred entries in float32.
  const WorldModelLoss first = world_model_loss(out, targets, 1);
  EXPECT_NEAR(first.total.item<double>(), next, 1e-6);
  EXPECT_EQ(first.future.item<double>(), 0.0);
  EXPECT_EQ(first.conflict.item<double>(), 0.0);
  const WorldModelLoss second =
      world_model_loss(out, targets, 2, {.future = 0.25, .conflict = 3.0});
  EXPECT_NEAR(second.next.item<double>(), next, 1e-6);
  EXPECT_NEAR(second.future.item<double>(), future, 1e-6);
  EXPECT_NEAR(second.conflict.item<double>(), conflict, 1e-6);
  EXPECT_NEAR(second.total.item<double>(), next + 0.25 * future + 3.0 * conflict, 1e-5);
}

TEST(WorldModelLoss, PartsWeightedByVehiclesAddUpToTheWholeBatch) {
  const WorldModelOutput out = random_output(3);
  const WorldModelTargets targets = random_targets(kVehicles, kStepsAhead, 4);
  world_model_loss(out, targets, 2).total.backward();
  const double whole = world_model_loss(out, targets, 2).total.item<double>();
  double sum = 0;
  Tensor gradient = torch::zeros_like(out.future);
  for (const auto& [first, last] : {std::pair{0, 2}, std::pair{2, 3}, std::pair{3, 7}}) {
    const auto part = [&](const Tensor& t) { return t.slice(0, first, last); };
    const Tensor future = part(out.future).detach().clone().requires_grad_(true);
    const WorldModelLoss loss =
        world_model_loss({part(out.next), future, part(out.conflict_logit), {}, {}},
                         {part(targets.future), part(targets.future_mask), part(targets.conflict),
                          part(targets.conflict_mask)},
                         2);
    loss.total.backward();
    const double share = static_cast<double>(last - first) / kVehicles;
    sum += loss.total.item<double>() * share;
    part(gradient).add_(future.grad(), share);
  }
  EXPECT_NEAR(sum, whole, 1e-6);
  // The parts need the same few float32 operations as the whole batch, in another order.
  EXPECT_LT(difference(gradient, out.future.grad().to(torch::kDouble)), 1e-6);
}

TEST(WorldModelLoss, IgnoresTargetsWhereTheMaskIsFalse) {
  const WorldModelOutput out = random_output(5);
  WorldModelTargets targets = random_targets(kVehicles, kStepsAhead, 6);
  const double before = world_model_loss(out, targets, 2).total.item<double>();
  targets.future.masked_fill_(targets.future_mask.logical_not().unsqueeze(2),
                              std::numeric_limits<float>::quiet_NaN());
  targets.conflict.masked_fill_(targets.conflict_mask.logical_not(), 1e30);
  const WorldModelLoss loss = world_model_loss(out, targets, 2);
  EXPECT_EQ(loss.total.item<double>(), before);
  loss.total.backward();
  EXPECT_TRUE(out.future.grad().isfinite().all().item<bool>());
  EXPECT_TRUE(out.conflict_logit.grad().isfinite().all().item<bool>());
  for (std::int64_t s = 0; s < kVehicles; ++s) {
    if (targets.conflict_mask[s].item<bool>()) continue;
    EXPECT_EQ(at(out.conflict_logit.grad(), {s}), 0.0);
  }
}

TEST(WorldModelLoss, IsZeroIfAllTargetsAreMasked) {
  const WorldModelOutput out = random_output(7);
  WorldModelTargets targets = random_targets(kVehicles, kStepsAhead, 8);
  targets.future_mask.fill_(false);
  targets.conflict_mask.fill_(false);
  EXPECT_EQ(world_model_loss(out, targets, 2).total.item<double>(), 0.0);
}

TEST(WorldModelLoss, RefusesTargetsOfOtherShapes) {
  const WorldModelOutput out = random_output(9);
  EXPECT_THROW(world_model_loss(out, random_targets(kVehicles, kStepsAhead + 1, 1), 2), ShapeError);
  EXPECT_THROW(world_model_loss(out, random_targets(kVehicles + 1, kStepsAhead, 1), 2), ShapeError);
  const WorldModelTargets fitting = random_targets(kVehicles, kStepsAhead, 1);
  EXPECT_NO_THROW(world_model_loss(out, fitting, 2));
  EXPECT_THROW(world_model_loss(out, fitting, 3), Error);
  EXPECT_THROW(world_model_loss(out, fitting, 0), Error);
  // Each tensor in turn gets a shape that ATen would broadcast silently.
  WorldModelTargets wrong = fitting;
  wrong.future = fitting.future.narrow(2, 0, 1);
  EXPECT_THROW(world_model_loss(out, wrong, 1), ShapeError);
  wrong = fitting;
  wrong.future_mask = fitting.future_mask.narrow(1, 0, 1);
  EXPECT_THROW(world_model_loss(out, wrong, 1), ShapeError);
  wrong = fitting;
  wrong.conflict = fitting.conflict.narrow(0, 0, 1);
  EXPECT_THROW(world_model_loss(out, wrong, 2), ShapeError);
  wrong = fitting;
  wrong.conflict_mask = fitting.conflict_mask.narrow(0, 0, 1);
  EXPECT_THROW(world_model_loss(out, wrong, 2), ShapeError);
}

TEST(Targets, AreZeroAtConstantSpeedAndCanBeInverted) {
  const Tensor t = torch::tensor({0.5F, 1.0F, 1.5F});
  const MotionScales scales(3, 0.5);
  const CurrentMotion now{torch::tensor({10.0F, 20.0F}), torch::tensor({0.0F, 2.0F})};
  const FutureMotion steady{torch::outer(now.speed_mps, t),
                            now.speed_mps.unsqueeze(1).expand({2, 3}), torch::zeros({2, 3}),
                            now.lane.unsqueeze(1).expand({2, 3})};
  EXPECT_LT(to_residuals(steady, now, scales).abs().max().item<float>(), 1e-6F);
  torch::manual_seed(1);
  const FutureMotion any{10 * torch::rand({2, 3}), 20 * torch::rand({2, 3}), torch::randn({2, 3}),
                         torch::ones({2, 3})};
  const FutureMotion back = to_motion(to_residuals(any, now, scales), now, scales);
  // Displacements of 30 m in float32 have an error of some 2^-24 * 30 m.
  EXPECT_LT((back.displacement_m - any.displacement_m).abs().max().item<float>(), 1e-5F);
  EXPECT_LT((back.speed_mps - any.speed_mps).abs().max().item<float>(), 1e-5F);
  EXPECT_LT((back.acceleration_mps2 - any.acceleration_mps2).abs().max().item<float>(), 1e-5F);
  EXPECT_LT((back.lane - any.lane).abs().max().item<float>(), 1e-5F);
}

TEST(Targets, AreScaledByTheHorizon) {
  // One metre more than at constant speed after two seconds: 1 / (0.85 * 2^1.4).
  const CurrentMotion now{torch::tensor({10.0F}), torch::tensor({1.0F})};
  const FutureMotion future{torch::tensor({{10.0F, 21.0F}}), torch::tensor({{10.0F, 13.0F}}),
                            torch::tensor({{0.0F, 0.5F}}), torch::tensor({{1.0F, 0.0F}})};
  const Tensor r = to_residuals(future, now, MotionScales(2, 1.0))[0][1];
  EXPECT_NEAR(r[0].item<double>(), 1.0 / (0.85 * std::pow(2.0, 1.4)), 1e-6);
  EXPECT_NEAR(r[1].item<double>(), 3.0 / (0.86 * std::pow(2.0, 0.7)), 1e-6);
  EXPECT_NEAR(r[2].item<double>(), 0.5, 1e-6);
  EXPECT_NEAR(r[3].item<double>(), -1.0, 1e-6);
}

}  // namespace
}  // namespace traffic::model
