/// Compares the losses and targets of off-policy learners with plain loops in double, and their
/// gradients with finite differences.
#include <gmock/gmock.h>
#include <torch/types.h>
#include <torch/utils.h>

#include <cmath>
#include <functional>

#include "traffic/core/error.h"
#include "traffic/rl/ddpg.h"
#include "traffic/rl/discrete_sac.h"
#include "traffic/rl/q_learning.h"
#include "traffic/rl/target_update.h"

namespace traffic::rl {
namespace {

constexpr std::int64_t kBatch = 7;
constexpr std::int64_t kActions = 4;

torch::Tensor random_values(std::initializer_list<std::int64_t> sizes, std::uint64_t seed) {
  torch::manual_seed(seed);
  return torch::randn(sizes, torch::kDouble) * 2;
}

/// The gradient of `loss` at x by central differences.
/// Their error is about 1e-6 squared for curvatures of about one, plus 1e-10 from rounding.
void expect_gradient(const torch::Tensor& x,
                     const std::function<torch::Tensor(const torch::Tensor&)>& loss) {
  const torch::Tensor at = x.clone().set_requires_grad(true);
  loss(at).backward();
  const torch::NoGradGuard no_grad;
  constexpr double kStep = 1e-6;
  for (std::int64_t i = 0; i < x.numel(); ++i) {
    const torch::Tensor up = x.clone();
    const torch::Tensor down = x.clone();
    up.view({-1})[i] += kStep;
    down.view({-1})[i] -= kStep;
    const double difference = (loss(up) - loss(down)).item<double>() / (2 * kStep);
    EXPECT_NEAR(at.grad().view({-1})[i].item<double>(), difference, 1e-6) << i;
  }
}

TEST(NStepTargets, BootstrapUnlessTheEpisodeEnded) {
  const auto of = [](const std::vector<double>& x) { return torch::tensor(x, torch::kDouble); };
  const torch::Tensor targets =
      n_step_targets({.returns = of({1, 2}), .discounts = of({0.5, 0})}, of({4, 100}));
  EXPECT_TRUE(torch::equal(targets, of({3, 2})));
  EXPECT_THROW(n_step_targets({.returns = of({1, 2}), .discounts = of({1})}, of({1, 2})),
               ShapeError);
}

TEST(DuelingQ, IsTheValuePlusAdvantageMinusMeanAdvantage) {
  const torch::Tensor heads = random_values({kBatch, 1 + kActions}, 1);
  const torch::Tensor q = dueling_q(heads);
  for (std::int64_t b = 0; b < kBatch; ++b) {
    double mean = 0;
    for (std::int64_t a = 0; a < kActions; ++a) {
      mean += heads[b][1 + a].item<double>() / kActions;
    }
    for (std::int64_t a = 0; a < kActions; ++a) {
      EXPECT_NEAR(q[b][a].item<double>(),
                  heads[b][0].item<double>() + heads[b][1 + a].item<double>() - mean, 1e-12);
    }
  }
  const torch::Tensor weights = random_values({kBatch, kActions}, 2);
  expect_gradient(heads, [&](const torch::Tensor& x) { return (dueling_q(x) * weights).sum(); });
}

TEST(JointQ, AddsTheAdvantagesOfAllChoicesOfAState) {
  const torch::Tensor heads = random_values({kBatch, 1 + kActions}, 21);
  const torch::Tensor actions = torch::arange(kBatch) % kActions;
  const torch::Tensor advantages = heads.narrow(1, 1, kActions);
  const torch::Tensor values = heads.select(1, 0);
  const auto each = torch::arange(kBatch);
  EXPECT_TRUE(torch::allclose(
      joint_q(values, {.advantages = advantages, .actions = actions, .state = each}),
      values_of(dueling_q(heads), actions)))
      << "with one choice per state, the joint value must be that of the choice";
  // All choices belong to the first state.
  const torch::Tensor joint = joint_q(
      values, {.advantages = advantages, .actions = actions, .state = torch::zeros_like(each)});
  double sum = values[0].item<double>();
  for (std::int64_t i = 0; i < kBatch; ++i) {
    sum += (advantages[i][actions[i].item<std::int64_t>()] - advantages[i].mean()).item<double>();
  }
  EXPECT_NEAR(joint[0].item<double>(), sum, 1e-12);
  EXPECT_TRUE(torch::equal(joint.slice(0, 1), values.slice(0, 1)));
  const torch::Tensor weights = random_values({kBatch}, 22);
  expect_gradient(advantages.clone(), [&](const torch::Tensor& x) {
    return (joint_q(values,
                    {.advantages = x, .actions = actions, .state = torch::div(each, 2, "floor")}) *
            weights)
        .sum();
  });
  EXPECT_THROW(joint_q(values, {.advantages = advantages, .actions = actions, .state = each[0]}),
               ShapeError);
}

TEST(SegmentQ, EqualsADuelingNetworkWithAnyNumberOfActions) {
  const torch::Tensor heads = random_values({kBatch, 1 + kActions}, 31);
  const torch::Tensor actions = torch::arange(kBatch) % kActions;
  const Segments same(torch::arange(kBatch + 1) * kActions);
  EXPECT_TRUE(torch::allclose(segment_q(heads.select(1, 0), heads.narrow(1, 1, kActions).flatten(),
                                        same, same.starts() + actions),
                              values_of(dueling_q(heads), actions)));
  const Segments states(torch::tensor({0, 2, 5}, torch::kLong));
  const torch::Tensor values = random_values({2}, 32);
  const torch::Tensor advantages = random_values({5}, 33);
  const torch::Tensor rows = torch::tensor({1, 2}, torch::kLong);
  const torch::Tensor q = segment_q(values, advantages, states, rows);
  EXPECT_NEAR(q[1].item<double>(),
              (values[1] + advantages[2] - advantages.slice(0, 2, 5).mean()).item<double>(), 1e-12);
  const torch::Tensor weights = random_values({2}, 34);
  expect_gradient(advantages, [&](const torch::Tensor& x) {
    return (segment_q(values, x, states, rows) * weights).sum();
  });
  EXPECT_THROW(segment_q(values, advantages, same, rows), ShapeError);
}

TEST(DoubleQ, IsTheTargetsValueOfTheOnlineNetworksChoice) {
  const auto row = [](const std::vector<double>& x) {
    return torch::tensor(x, torch::kDouble).unsqueeze(0);
  };
  EXPECT_EQ(double_q_values(row({1, 5, 2}), row({10, 20, 30})).item<double>(), 20);
}

TEST(QLoss, IsTheHuberLossOfTheActionsTaken) {
  const torch::Tensor q = random_values({kBatch, kActions}, 3);
  const torch::Tensor targets = random_values({kBatch}, 4);
  const torch::Tensor actions = torch::arange(kBatch) % kActions;
  double sum = 0;
  for (std::int64_t b = 0; b < kBatch; ++b) {
    const double off =
        std::abs((q[b][actions[b].item<std::int64_t>()] - targets[b]).item<double>());
    sum += off < 1 ? off * off / 2 : off - 0.5;
  }
  EXPECT_NEAR(value_loss(values_of(q, actions), targets, 3.0).item<double>(), sum / 3, 1e-12);
  expect_gradient(
      q, [&](const torch::Tensor& x) { return value_loss(values_of(x, actions), targets, 3.0); });
  EXPECT_THROW(values_of(q, actions.to(torch::kInt)), ShapeError);
}

TEST(DiscreteSac, ValuesAndActorLossAreExpectationsUnderThePolicy) {
  constexpr double kAlpha = 0.3;
  const torch::Tensor logits = random_values({kBatch, kActions}, 5);
  const TwinQ q{.first = random_values({kBatch, kActions}, 6),
                .second = random_values({kBatch, kActions}, 7)};
  const torch::Tensor values = soft_values(logits, q, kAlpha);
  double loss = 0;
  double entropy = 0;
  for (std::int64_t b = 0; b < kBatch; ++b) {
    double total = 0;
    for (std::int64_t a = 0; a < kActions; ++a) total += std::exp(logits[b][a].item<double>());
    double value = 0;
    for (std::int64_t a = 0; a < kActions; ++a) {
      const double log_pi = logits[b][a].item<double>() - std::log(total);
      const double least = std::min(q.first[b][a].item<double>(), q.second[b][a].item<double>());
      value += std::exp(log_pi) * (least - kAlpha * log_pi);
      entropy -= std::exp(log_pi) * log_pi;
    }
    EXPECT_NEAR(values[b].item<double>(), value, 1e-12);
    loss -= value;
  }
  const SacActorLoss actor = sac_actor_loss(logits, q, kAlpha, 5.0);
  EXPECT_NEAR(actor.loss.item<double>(), loss / 5, 1e-12);
  EXPECT_NEAR(actor.entropy_sum.item<double>(), entropy, 1e-12);
  expect_gradient(logits,
                  [&](const torch::Tensor& x) { return sac_actor_loss(x, q, kAlpha, 5.0).loss; });
}

TEST(DiscreteSac, TheTemperatureFallsWhileThePolicyIsTooRandom) {
  EXPECT_GT(temperature_gradient(1.2, 0.3), 0);  // the update subtracts the gradient from log_alpha
  EXPECT_LT(temperature_gradient(0.1, 0.3), 0);
}

TEST(GumbelStraightThrough, ChoosesWithTheProbabilitiesOfTheSoftmax) {
  constexpr std::int64_t kDraws = 40000;
  const torch::Tensor logits = torch::tensor({0.0, 1.0, -1.0, 0.5}, torch::kDouble);
  torch::manual_seed(8);
  const torch::Tensor chosen = gumbel_straight_through(
      logits.expand({kDraws, kActions}).contiguous(),
      torch::rand({kDraws, kActions}, torch::kDouble).clamp_min(1e-12), 1.0);
  EXPECT_TRUE(torch::allclose(chosen.sum(1), torch::ones({kDraws}, torch::kDouble)));
  EXPECT_TRUE(torch::allclose(std::get<0>(chosen.max(1)), torch::ones({kDraws}, torch::kDouble)));
  // Shares of 40,000 draws have a standard deviation of at most 0.0025.
  EXPECT_TRUE(torch::allclose(chosen.mean(0), logits.softmax(0), 0, 0.0125));
}

TEST(GumbelStraightThrough, HasTheGradientOfTheNoisySoftmax) {
  const torch::Tensor logits = random_values({kBatch, kActions}, 9);
  torch::manual_seed(10);
  const torch::Tensor uniforms = torch::rand({kBatch, kActions}, torch::kDouble);
  const torch::Tensor weights = random_values({kBatch, kActions}, 11);
  const torch::Tensor at = logits.clone().set_requires_grad(true);
  (gumbel_straight_through(at, uniforms, 0.7) * weights).sum().backward();
  const torch::Tensor soft = logits.clone().set_requires_grad(true);
  (((soft - (-uniforms.log()).log()) / 0.7).softmax(1) * weights).sum().backward();
  EXPECT_TRUE(torch::allclose(at.grad(), soft.grad(), 1e-10, 1e-12));
}

TEST(Ddpg, LossesEqualThoseOfThePaper) {
  const torch::Tensor q = random_values({kBatch}, 12);
  const torch::Tensor targets = random_values({kBatch}, 13);
  EXPECT_NEAR(ddpg_critic_loss(q, targets, 2.0).item<double>(),
              (q - targets).square().sum().item<double>() / 2, 1e-12);
  EXPECT_NEAR(ddpg_actor_loss(q, 2.0).item<double>(), -q.sum().item<double>() / 2, 1e-12);
  expect_gradient(q, [&](const torch::Tensor& x) { return ddpg_critic_loss(x, targets, 2.0); });
}

TEST(SoftUpdate, MovesByTheShareTauAndWithOneCopies) {
  const torch::Tensor target = torch::tensor({0.0F, 4.0F});
  const torch::Tensor online = torch::tensor({1.0F, 0.1F});
  soft_update(target, online, 0.25);
  EXPECT_TRUE(torch::allclose(target, torch::tensor({0.25F, 3.025F})));
  soft_update(target, online, 1.0);
  EXPECT_TRUE(torch::equal(target, online));
  EXPECT_THROW(soft_update(target, torch::zeros({3}), 0.5), ShapeError);
}

}  // namespace
}  // namespace traffic::rl
