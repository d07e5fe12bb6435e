#include "traffic/rl/lagrangian.h"

#include <gtest/gtest.h>
#include <torch/optim/sgd.h>

#include <limits>

#include "helpers.h"
#include "support/uniforms.h"
#include "traffic/core/error.h"
#include "traffic/rl/distributions.h"
#include "traffic/rl/ppo_loss.h"

namespace traffic::rl {
namespace {

using test::draw_uniforms;
using testing::count_terms;
using testing::distance;
using testing::f64;

TEST(LagrangeMultiplier, RisesAboveTheLimitAndFallsBelowIt) {
  LagrangeMultiplier multiplier({.cost_limit = 0.1, .lagrange_lr = 0.5, .lagrange_init = 1.0});
  multiplier.update(0.3);
  EXPECT_DOUBLE_EQ(multiplier.value(), 1.1);
  multiplier.update(0.1);
  EXPECT_DOUBLE_EQ(multiplier.value(), 1.1);
  multiplier.update(0.0);
  EXPECT_DOUBLE_EQ(multiplier.value(), 1.05);
}

TEST(LagrangeMultiplier, StaysWithinItsBounds) {
  LagrangeMultiplier multiplier({.cost_limit = 0.1, .lagrange_lr = 1.0, .lagrange_max = 2.0});
  multiplier.update(0.0);
  EXPECT_EQ(multiplier.value(), 0.0);
  EXPECT_FALSE(multiplier.is_at_max());
  multiplier.update(1e300);
  EXPECT_EQ(multiplier.value(), 2.0);
  EXPECT_TRUE(multiplier.is_at_max());
}

TEST(LagrangeMultiplier, RefusesInvalidParametersAndCosts) {
  LagrangeMultiplier multiplier({});
  EXPECT_THROW(multiplier.update(std::numeric_limits<double>::quiet_NaN()), NumericError);
  EXPECT_THROW(multiplier.update(std::numeric_limits<double>::infinity()), NumericError);
  EXPECT_THROW(multiplier.set_value(-0.1), ConfigError);
  EXPECT_THROW(multiplier.set_value(11.0), ConfigError);
  EXPECT_THROW(LagrangeMultiplier({.lagrange_lr = 0.0}), ConfigError);
  EXPECT_THROW(LagrangeMultiplier({.cost_limit = -1.0}), ConfigError);
  EXPECT_THROW(LagrangeMultiplier({.lagrange_init = 3.0, .lagrange_max = 2.0}), ConfigError);
}

TEST(ConstrainedAdvantages, WeighCostByTheMultiplierAtConstantSize) {
  const torch::Tensor reward = f64({1, 2});
  const torch::Tensor cost = f64({4, -1});
  EXPECT_TRUE(torch::equal(constrained_advantages(reward, cost, 0.0), reward));
  EXPECT_LT(distance(constrained_advantages(reward, cost, 3.0), f64({-2.75, 1.25})), 1e-15);
  EXPECT_THROW(constrained_advantages(reward, f64({1}), 1.0), ShapeError);
}

/// A bandit with three arms. The best policy within the cost limit pulls the second arm with
/// probability .75 and the third with .25. It is optimal at a multiplier of 1: reward minus cost is
/// then the same for these two arms (.6 - .1 = 1 - .5) and smaller for the first arm (0).
struct ConstrainedBandit {
  torch::Tensor rewards = torch::tensor({0.0F, 0.6F, 1.0F});
  torch::Tensor costs = torch::tensor({0.0F, 0.1F, 0.5F});
  double cost_limit = 0.2;
};

TEST(LagrangeMultiplier, LeadsPolicyGradientToTheConstrainedOptimum) {
  const ConstrainedBandit bandit;
  LagrangeMultiplier multiplier({.cost_limit = bandit.cost_limit, .lagrange_lr = 0.05});
  torch::Tensor logits = torch::zeros({3}).requires_grad_();
  torch::optim::SGD optimizer({logits}, /*lr=*/4.0);
  Rng rng(17);
  constexpr std::int64_t kPulls = 128;
  constexpr int kSteps = 600;
  constexpr double kEntCoef = 0.03;  // otherwise the optimum would be circled for ever
  torch::Tensor mean_policy = torch::zeros({3});
  double mean_multiplier = 0.0;
  for (int step = 0; step < kSteps; ++step) {
    const Categorical policy(logits.expand({kPulls, 3}));
    const torch::Tensor arms = policy.sample(draw_uniforms(rng, {kPulls, 3}));
    const torch::Tensor reward = bandit.rewards.index_select(0, arms);
    const torch::Tensor cost = bandit.costs.index_select(0, arms);
    multiplier.update(cost.mean().item<double>());

    const torch::Tensor log_prob = policy.log_prob(arms);
    const PpoLossInputs in{
        .decisions = {.log_prob = log_prob,
                      .old_log_prob = log_prob.detach(),
                      .advantages = constrained_advantages(reward - reward.mean(),
                                                           cost - cost.mean(), multiplier.value()),
                      .entropy = policy.entropy()},
        .values = {
            .values = torch::zeros(0), .old_values = torch::zeros(0), .returns = torch::zeros(0)}};
    optimizer.zero_grad();
    ppo_loss(in, count_terms(in), {.ent_coef = kEntCoef}).loss.backward();
    optimizer.step();
    if (step >= kSteps / 2) {
      mean_policy += logits.detach().softmax(0) / (kSteps / 2);
      mean_multiplier += multiplier.value() / (kSteps / 2);
    }
  }
  // The policy reaches these probabilities in spite of the entropy bonus. The bonus raises the
  // multiplier to p = 1.18, the solution of .4 p = .4 + .03 (1 + p) ln 3. The standard error over
  // 300 steps of 128 pulls is about .003 for the policy, and below .01 for the multiplier, which
  // follows the cost of each step.
  EXPECT_LT(distance(mean_policy, torch::tensor({0.F, 0.75F, 0.25F})), 0.02);
  EXPECT_NEAR((mean_policy * bandit.costs).sum().item<double>(), bandit.cost_limit, 0.01);
  EXPECT_NEAR((mean_policy * bandit.rewards).sum().item<double>(), 0.7, 0.01);
  EXPECT_NEAR(mean_multiplier, 1.18, 0.05);
}

}  // namespace
}  // namespace traffic::rl
