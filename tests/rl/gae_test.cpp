#include "traffic/rl/gae.h"

#include <gtest/gtest.h>

#include <limits>

#include "helpers.h"
#include "traffic/core/error.h"

namespace traffic::rl {
namespace {

using testing::distance;
using testing::noise;

GaeInputs one_environment(const std::vector<float>& rewards, const std::vector<float>& values,
                          const std::vector<float>& next_values) {
  const auto T = static_cast<std::int64_t>(rewards.size());
  return {.rewards = torch::tensor(rewards).view({T, 1}),
          .values = torch::tensor(values).view({T, 1}),
          .next_values = torch::tensor(next_values).view({T, 1}),
          .terminated = torch::zeros({T, 1}, torch::kBool),
          .truncated = torch::zeros({T, 1}, torch::kBool)};
}

GaeInputs random_rollout(torch::IntArrayRef sizes) {
  const auto steps = sizes.slice(0, 2);
  return {.rewards = noise(1, sizes, torch::kFloat32),
          .values = noise(2, sizes, torch::kFloat32),
          .next_values = noise(3, sizes, torch::kFloat32),
          .terminated = noise(4, steps) > 1.2,
          .truncated = noise(5, steps) > 1.2};
}

/// The definition: sum of discounted temporal differences up to the end of the episode.
torch::Tensor gae_by_definition(const GaeInputs& in, double gamma, double gae_lambda) {
  const torch::Tensor stops = in.terminated.logical_or(in.truncated);
  torch::Tensor out = torch::zeros_like(in.rewards);
  for (std::int64_t t = 0; t < in.rewards.size(0); ++t) {
    for (std::int64_t b = 0; b < in.rewards.size(1); ++b) {
      double weight = 1.0;
      for (std::int64_t k = t; k < in.rewards.size(0); ++k) {
        const torch::Tensor next =
            in.next_values[k][b] * (in.terminated[k][b].item<bool>() ? 0 : 1);
        out[t][b] += weight * (in.rewards[k][b] + gamma * next - in.values[k][b]);
        if (stops[k][b].item<bool>()) break;
        weight *= gamma * gae_lambda;
      }
    }
  }
  return out;
}

// gamma .5, lambda .5 and small integers are exact in float32, so the results are compared exactly.

TEST(Gae, DiscountsLaterDifferencesAndBootstrapsTheLastStep) {
  const GaeInputs in = one_environment({1, 2, 4}, {0, 2, 4}, {2, 4, 8});
  // differences: 1 + 1 - 0 = 2;  2 + 2 - 2 = 2;  4 + 4 - 4 = 4
  const torch::Tensor expected = torch::tensor({2 + .25F * 3, 2 + .25F * 4, 4.F}).view({3, 1});
  EXPECT_TRUE(torch::equal(gae(in, 0.5, 0.5), expected));
}

TEST(Gae, TerminationHasNoFuture) {
  GaeInputs in = one_environment({1, 2, 4}, {0, 2, 4}, {2, 4, 8});
  in.terminated[1][0] = true;
  in.next_values[1][0] = std::numeric_limits<float>::quiet_NaN();  // must not be read
  // differences: 2;  2 + 0 - 2 = 0;  4; the sums of the first two steps end with the second step
  const torch::Tensor expected = torch::tensor({2.F, 0.F, 4.F}).view({3, 1});
  EXPECT_TRUE(torch::equal(gae(in, 0.5, 0.5), expected));
}

TEST(Gae, TruncationBootstrapsTheFinalObservationAndCutsTheRecursion) {
  GaeInputs in = one_environment({1, 2, 4}, {0, 2, 4}, {2, 6, 8});
  in.truncated[1][0] = true;
  // differences: 2;  2 + .5 * 6 - 2 = 3;  4
  const torch::Tensor expected = torch::tensor({2 + .25F * 3, 3.F, 4.F}).view({3, 1});
  EXPECT_TRUE(torch::equal(gae(in, 0.5, 0.5), expected));
}

TEST(Gae, TerminationWinsWhereBothFlagsAreSet) {
  GaeInputs in = one_environment({1}, {0}, {100});
  in.terminated[0][0] = true;
  in.truncated[0][0] = true;
  EXPECT_EQ(gae(in, 0.5, 0.5).item<float>(), 1.0F);
}

TEST(Gae, EqualsItsDefinition) {
  const GaeInputs in = random_rollout({23, 4});
  // gae_by_definition() adds up to 23 terms of order 1 in float32, each with a rounding error of
  // about 6e-8.
  EXPECT_LT(distance(gae(in, 0.97, 0.9), gae_by_definition(in, 0.97, 0.9)), 1e-5);
}

TEST(Gae, DiscountsEveryPeriodThatAStepTook) {
  GaeInputs in = one_environment({1, 2, 4}, {0, 2, 4}, {2, 4, 8});
  in.periods = torch::tensor({2, 1, 3}, torch::kLong).view({3, 1});
  // differences: 1 + .25 * 2 - 0 = 1.5;  2 + .5 * 4 - 2 = 2;  4 + .125 * 8 - 4 = 1
  const float second = 2 + .25F * 1;
  const torch::Tensor expected = torch::tensor({1.5F + .125F * second, second, 1.F}).view({3, 1});
  EXPECT_TRUE(torch::equal(gae(in, 0.5, 0.5), expected));
  in.periods = torch::ones({3, 1}, torch::kLong);
  const torch::Tensor ones = gae(in, 0.97, 0.9);
  in.periods = torch::Tensor();
  EXPECT_TRUE(torch::equal(ones, gae(in, 0.97, 0.9)));
}

TEST(Gae, ComputesTheAdvantagesOfEachConflictSeparately) {
  const GaeInputs in = random_rollout({17, 3, 4});
  const torch::Tensor together = gae(in, 0.99, 0.8);
  for (std::int64_t c = 0; c < 4; ++c) {
    const GaeInputs alone{.rewards = in.rewards.select(2, c),
                          .values = in.values.select(2, c),
                          .next_values = in.next_values.select(2, c),
                          .terminated = in.terminated,
                          .truncated = in.truncated};
    EXPECT_TRUE(torch::equal(together.select(2, c), gae(alone, 0.99, 0.8)));
  }
}

TEST(Gae, WithLambdaOneIsTheDiscountedReturnMinusTheValue) {
  GaeInputs in = one_environment({1, 1, 1}, {5, 6, 7}, {6, 7, 8});
  in.terminated[2][0] = true;
  const torch::Tensor returns = torch::tensor({1.75F, 1.5F, 1.F}).view({3, 1});
  EXPECT_TRUE(torch::equal(gae(in, 0.5, 1.0) + in.values, returns));
}

TEST(Gae, CarriesNoGradient) {
  GaeInputs in = random_rollout({3, 2});
  in.values.requires_grad_();
  EXPECT_FALSE(gae(in, 0.99, 0.95).requires_grad());
}

TEST(Gae, AnEmptyRolloutGivesNoAdvantages) {
  EXPECT_EQ(gae(random_rollout({0, 2}), 0.99, 0.95).sizes(), torch::IntArrayRef({0, 2}));
}

TEST(Gae, RefusesTensorsOfOtherShapes) {
  GaeInputs in = random_rollout({3, 2});
  in.values = in.values.slice(0, 0, 2);
  EXPECT_THROW(gae(in, 0.99, 0.95), ShapeError);
  in = random_rollout({3, 2});
  in.terminated = in.terminated.to(torch::kFloat32);
  EXPECT_THROW(gae(in, 0.99, 0.95), ShapeError);
  in = random_rollout({3, 2});
  in.next_values = torch::Tensor();
  EXPECT_THROW(gae(in, 0.99, 0.95), ShapeError);
  in = random_rollout({3, 2});
  in.rewards = in.rewards.to(torch::kFloat64);
  EXPECT_THROW(gae(in, 0.99, 0.95), ShapeError);
}

}  // namespace
}  // namespace traffic::rl
