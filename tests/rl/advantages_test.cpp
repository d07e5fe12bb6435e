#include "traffic/rl/advantages.h"

#include <gtest/gtest.h>

#include "helpers.h"
#include "traffic/core/error.h"
#include "traffic/rl/running_mean_std.h"

namespace traffic::rl {
namespace {

using testing::distance;
using testing::f64;
using testing::i64;
using testing::noise;

TEST(Moments, GiveMeanAndDeviationOfEachConflict) {
  const torch::Tensor x = noise(1, {50, 4, 3}) * 7 + f64({1, -2, 100});
  const Scale scale = scale_of(moments_of(x, 3));
  const torch::Tensor flat = x.reshape({-1, 3});
  // The squares of the third column are about 1e4, so their rounding errors are about 1e-12.
  EXPECT_LT(distance(scale.mean, flat.mean(0)), 1e-11);
  EXPECT_LT(distance(scale.deviation, flat.std(0, false)), 1e-11);
}

TEST(Moments, MomentsOfPartsAddUpToThoseOfTheWhole) {
  const torch::Tensor x = noise(2, {40, 2});
  const torch::Tensor mask = noise(3, {40, 2}) > 0;
  torch::Tensor added = torch::zeros({3, 2}, torch::kFloat64);
  for (const auto& [from, to] : std::vector<std::pair<int, int>>{{0, 7}, {7, 7}, {7, 40}}) {
    added += moments_of(x.slice(0, from, to), 2, mask.slice(0, from, to));
  }
  EXPECT_LT(distance(added, moments_of(x, 2, mask)), 1e-13);  // another order of addition
  EXPECT_TRUE(torch::equal(added[kCount], mask.sum(0).to(torch::kFloat64)));
}

TEST(Moments, NeverReadMaskedEntries) {
  const torch::Tensor x = f64({1, NAN, 3});
  const Scale scale = scale_of(moments_of(x, 1, torch::tensor({true, false, true})));
  EXPECT_EQ(scale.mean.item<double>(), 2.0);
  EXPECT_EQ(scale.deviation.item<double>(), 1.0);
}

TEST(Moments, WithoutVariationOrEntriesTheDeviationIsOne) {
  const torch::Tensor constant = torch::full({9, 1}, 0.1);
  EXPECT_EQ(scale_of(moments_of(constant, 1)).deviation.item<double>(), 1.0);
  const Scale none = scale_of(moments_of(f64({}), 1));
  EXPECT_EQ(none.mean.item<double>(), 0.0);
  EXPECT_EQ(none.deviation.item<double>(), 1.0);
}

TEST(Moments, RefuseTensorsOfOtherShapes) {
  EXPECT_THROW(moments_of(f64({1, 2}), 3), ShapeError);
  EXPECT_THROW(moments_of(i64({1, 2}), 1), ShapeError);
  EXPECT_THROW(moments_of(f64({1, 2}), 1, torch::tensor({true})), ShapeError);
  EXPECT_THROW(scale_of(f64({1, 2, 3})), ShapeError);
}

TEST(DecisionAdvantages, AreThoseOfStateAndConflictMinusTheOwnCost) {
  const torch::Tensor advantages = f64({1, 10, 2, 20, 3, 30}).view({3, 2});
  const Scale scale{.mean = f64({1, 10}), .deviation = f64({2, 5})};
  const torch::Tensor got = decision_advantages({.advantages = advantages,
                                                 .state = i64({0, 2, 2, 1}),
                                                 .conflict = i64({0, 0, 1, 1}),
                                                 .own_cost = f64({0, 0.5, 0, 2.5})},
                                                scale);
  EXPECT_TRUE(torch::equal(got, f64({0, 0.75, 4, 1.5})));
}

TEST(DecisionAdvantages, ShareOneAdvantageWhereThereIsOneConflict) {
  const torch::Tensor advantages = f64({1, 2, 3}).view({3, 1});
  const Scale scale{.mean = f64({2}), .deviation = f64({1})};
  const torch::Tensor got =
      decision_advantages({.advantages = advantages, .state = i64({0, 0, 2})}, scale);
  EXPECT_TRUE(torch::equal(got, f64({-1, -1, 1})));
}

TEST(DecisionAdvantages, RefuseTensorsOfOtherShapes) {
  const torch::Tensor advantages = f64({1, 2, 3, 4}).view({2, 2});
  const Scale two{.mean = f64({0, 0}), .deviation = f64({1, 1})};
  const Scale one{.mean = f64({0}), .deviation = f64({1})};
  EXPECT_THROW(decision_advantages({.advantages = advantages, .state = i64({0})}, two), ShapeError);
  const torch::Tensor zero = i64({0});
  EXPECT_THROW(
      decision_advantages({.advantages = advantages, .state = zero, .conflict = zero}, one),
      ShapeError);
  EXPECT_THROW(decision_advantages({.advantages = advantages, .state = {}}, two), ShapeError);
}

TEST(RunningMeanStd, IsTheMeanAndDeviationOfAllUpdates) {
  const torch::Tensor x = noise(5, {300, 2}) * f64({3, 0.01}) + f64({1000, -4});
  RunningMeanStd running(2);
  for (const auto& [from, to] : std::vector<std::pair<int, int>>{{0, 1}, {1, 90}, {90, 300}}) {
    running.update(moments_of(x.slice(0, from, to), 2));
  }
  // The squares of the first column are about 1e6, so their rounding errors are about 1e-10.
  EXPECT_LT(distance(running.scale().mean, x.mean(0)), 1e-9);
  EXPECT_LT(distance(running.scale().deviation, x.std(0, false)), 1e-7);
}

TEST(RunningMeanStd, StandardisesAndRestores) {
  RunningMeanStd running(2);
  const torch::Tensor x = noise(6, {50, 2}) * f64({3, 0.1}) + f64({5, -4});
  running.update(moments_of(x, 2));
  const torch::Tensor standard = running.standardise(x);
  EXPECT_LT(distance(standard.mean(0), f64({0, 0})), 1e-12);
  EXPECT_LT(distance(standard.std(0, false), f64({1, 1})), 1e-12);
  EXPECT_LT(distance(running.restore(standard), x), 1e-12);
  EXPECT_EQ(running.standardise(x.to(torch::kFloat32)).scalar_type(), torch::kFloat32);
}

TEST(RunningMeanStd, WithoutUpdatesOrVariationTheDeviationIsOne) {
  RunningMeanStd running(1);
  const torch::Tensor x = f64({3, -7});
  EXPECT_TRUE(torch::equal(running.standardise(x), x));
  running.update(moments_of(f64({}), 1));
  EXPECT_TRUE(torch::equal(running.standardise(x), x));
  running.update(moments_of(torch::full({7}, 3.0), 1));
  EXPECT_TRUE(torch::equal(running.standardise(x), x - 3));
}

TEST(RunningMeanStd, ContinuesExactlyFromItsState) {
  RunningMeanStd running(2);
  running.update(moments_of(noise(7, {20, 2}), 2));
  RunningMeanStd restored(2);
  restored.load_state(running.state());
  running.update(moments_of(noise(8, {20, 2}), 2));
  restored.update(moments_of(noise(8, {20, 2}), 2));
  EXPECT_TRUE(torch::equal(running.state(), restored.state()));
}

TEST(RunningMeanStd, RefusesAnInvalidState) {
  RunningMeanStd running(2);
  EXPECT_THROW(running.load_state(torch::zeros({3, 1}, torch::kFloat64)), ShapeError);
  EXPECT_THROW(running.load_state(torch::full({3, 2}, NAN, torch::kFloat64)), ShapeError);
  EXPECT_THROW(running.load_state(torch::full({3, 2}, -1.0, torch::kFloat64)), ShapeError);
  EXPECT_THROW(running.update(torch::zeros({3, 1}, torch::kFloat64)), ShapeError);
}

}  // namespace
}  // namespace traffic::rl
