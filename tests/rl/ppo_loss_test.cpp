#include "traffic/rl/ppo_loss.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "helpers.h"
#include "traffic/core/error.h"
#include "traffic/rl/ppo_statistics.h"

namespace traffic::rl {
namespace {

using testing::count_terms;
using testing::distance;
using testing::expect_gradient;
using testing::f64;
using testing::noise;

constexpr PpoCoefficients kPolicyOnly{
    .clip_range = 0.2, .vf_clip_range = 0.0, .ent_coef = 0.0, .vf_coef = 0.0};

PolicyTerms decisions_with_ratios(const std::vector<double>& ratios,
                                  const std::vector<double>& advantages) {
  return {.log_prob = f64(ratios).log().requires_grad_(),
          .old_log_prob = torch::zeros_like(f64(ratios)),
          .advantages = f64(advantages)};
}

ValueTerms no_values() { return {.values = f64({}), .old_values = f64({}), .returns = f64({})}; }

PpoLoss policy_loss(const PolicyTerms& decisions) {
  return ppo_loss({.decisions = decisions, .values = no_values()}, {}, kPolicyOnly);
}

/// d loss / d ratio = (d loss / d log_prob) / ratio.
torch::Tensor ratio_gradient(const PolicyTerms& decisions) {
  policy_loss(decisions).loss.backward();
  return decisions.log_prob.grad() / decisions.log_prob.detach().exp();
}

TEST(PpoLoss, ClipsARatioOnlyInTheDirectionOfTheAdvantage) {
  const PolicyTerms rising = decisions_with_ratios({0.5, 1.0, 1.1, 1.5}, {2, 2, 2, 2});
  EXPECT_NEAR(policy_loss(rising).loss.item<double>(), -2 * (0.5 + 1.0 + 1.1 + 1.2), 1e-14);
  EXPECT_LT(distance(ratio_gradient(rising), f64({-2, -2, -2, 0})), 1e-14);

  const PolicyTerms falling = decisions_with_ratios({0.5, 0.9, 1.0, 1.5}, {-2, -2, -2, -2});
  EXPECT_NEAR(policy_loss(falling).loss.item<double>(), 2 * (0.8 + 0.9 + 1.0 + 1.5), 1e-14);
  EXPECT_LT(distance(ratio_gradient(falling), f64({0, 2, 2, 2})), 1e-14);
}

TEST(PpoLoss, ClipsEachDecisionOnItsOwn) {
  // The product of the two ratios is 1, so clipping the product would change nothing.
  const PolicyTerms terms = decisions_with_ratios({2.0, 0.5}, {1, 1});
  EXPECT_LT(distance(ratio_gradient(terms), f64({0, -1})), 1e-14);
}

TEST(PpoLoss, SelectionsAreClippedLikeDecisionsAndWeighTheSame) {
  const PolicyTerms decision = decisions_with_ratios({1.0}, {3});
  const PolicyTerms selection = decisions_with_ratios({1.5, 1.0}, {3, -1});
  const PpoLossInputs in{.decisions = decision, .selections = selection, .values = no_values()};
  const PpoLoss out = ppo_loss(in, {.decisions = 2.0}, kPolicyOnly);
  EXPECT_NEAR(out.loss.item<double>(), (-3 - 3 * 1.2 + 1) / 2, 1e-14);
  out.loss.backward();
  EXPECT_LT(distance(selection.log_prob.grad(), f64({0, 0.5})), 1e-14);
}

TEST(PpoLoss, AMaskedDecisionGivesNoTerm) {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  PolicyTerms terms = decisions_with_ratios({1.1, kNan, 0.9}, {2, kNan, 1});
  terms.entropy = f64({0.5, kNan, 0.25});
  terms.mask = torch::tensor({true, false, true});
  PpoCoefficients coefficients = kPolicyOnly;
  coefficients.ent_coef = 0.1;
  const PpoLossInputs in{.decisions = terms, .values = no_values()};
  const PpoLoss out = ppo_loss(in, count_terms(in), coefficients);
  EXPECT_NEAR(out.loss.item<double>(), (-2.2 - 0.9 - 0.1 * 0.75) / 2, 1e-14);
  out.loss.backward();
  EXPECT_LT(distance(terms.log_prob.grad(), f64({-1.1, 0, -0.45})), 1e-14);
  EXPECT_EQ(ppo_statistics(out.sums).decisions, 2.0);
}

TEST(PpoLoss, WithoutDecisionsItIsTheValueLoss) {
  const PpoLossInputs in{
      .decisions = decisions_with_ratios({}, {}),
      .values = {.values = f64({1, 3}), .old_values = f64({0, 0}), .returns = f64({0, 0})}};
  const PpoLoss out = ppo_loss(in, count_terms(in), {});
  EXPECT_NEAR(out.loss.item<double>(), 0.5 * (1 + 9) / 2, 1e-14);
}

TEST(ValueLoss, ClipsAChangeTowardsTheTargetInBothDirections) {
  const torch::Tensor values = f64({3.0, -3.0, 0.5, 3.0}).requires_grad_();
  const ValueTerms terms{
      .values = values, .old_values = f64({0, 0, 0, 0}), .returns = f64({4, -4, 4, -1})};
  const torch::Tensor loss = value_loss_sum(terms, 1.0);
  // The first two values moved by 3 towards a target at distance 4. The move counts as 1, so the
  // error is 3, without gradient. The third moved by less than the limit and the fourth away from
  // its target: their own errors count.
  EXPECT_NEAR(loss.item<double>(), 9 + 9 + 3.5 * 3.5 + 16, 1e-14);
  loss.backward();
  EXPECT_LT(distance(values.grad(), f64({0, 0, -7, 8})), 1e-14);
}

TEST(ValueLoss, WithoutClippingIsTheSquaredError) {
  const ValueTerms terms{.values = f64({3, -3}), .old_values = f64({0, 0}), .returns = f64({4, 4})};
  EXPECT_NEAR(value_loss_sum(terms, 0.0).item<double>(), 1 + 49, 1e-14);
}

TEST(ValueLoss, AcceptsValuesPerConflictAndIgnoresMaskedOnes) {
  ValueTerms terms{.values = f64({1, 2, 3, 4}).view({2, 2}),
                   .old_values = torch::zeros({2, 2}, torch::kFloat64),
                   .returns = torch::zeros({2, 2}, torch::kFloat64)};
  EXPECT_NEAR(value_loss_sum(terms, 10.0).item<double>(), 30, 1e-14);
  terms.values = f64({1, NAN, 3, 4}).view({2, 2}).requires_grad_();
  terms.mask = torch::tensor({true, false, false, true}).view({2, 2});
  const torch::Tensor loss = value_loss_sum(terms, 10.0);
  EXPECT_NEAR(loss.item<double>(), 17, 1e-14);
  loss.backward();
  EXPECT_LT(distance(terms.values.grad(), f64({2, 0, 0, 8}).view({2, 2})), 1e-14);
}

/// A minibatch whose log-probabilities, entropies and values are functions of five parameters.
/// part() cuts out the share of a rank.
struct Minibatch {
  torch::Tensor decision_features = noise(1, {37, 5});
  torch::Tensor decision_old = -noise(2, {37}).abs();
  torch::Tensor decision_advantages = noise(3, {37});
  torch::Tensor decision_mask = noise(4, {37}) > -0.5;
  torch::Tensor selection_features = noise(5, {20, 5});
  torch::Tensor selection_old = -noise(6, {20}).abs();
  torch::Tensor selection_advantages = noise(7, {20});
  torch::Tensor state_features = noise(8, {20, 3, 5});
  torch::Tensor old_values = noise(9, {20, 3});
  torch::Tensor returns = noise(10, {20, 3});

  /// Decisions d0 .. d1 and states s0 .. s1 as functions of the parameters.
  PpoLossInputs part(const torch::Tensor& parameters, std::array<std::int64_t, 4> cut) const {
    const auto [d0, d1, s0, s1] = cut;
    const auto of = [&](const torch::Tensor& features, std::int64_t from, std::int64_t to) {
      return -features.slice(0, from, to).matmul(parameters).square();
    };
    const torch::Tensor decision = of(decision_features, d0, d1);
    const torch::Tensor selection = of(selection_features, s0, s1);
    return {.decisions = {.log_prob = decision,
                          .old_log_prob = decision_old.slice(0, d0, d1),
                          .advantages = decision_advantages.slice(0, d0, d1),
                          .entropy = decision.sin(),
                          .mask = decision_mask.slice(0, d0, d1)},
            .selections = {.log_prob = selection,
                           .old_log_prob = selection_old.slice(0, s0, s1),
                           .advantages = selection_advantages.slice(0, s0, s1),
                           .entropy = selection.cos()},
            .values = {.values = of(state_features, s0, s1),
                       .old_values = old_values.slice(0, s0, s1),
                       .returns = returns.slice(0, s0, s1)}};
  }
};

constexpr std::array<std::int64_t, 4> kWhole{0, 37, 0, 20};
constexpr PpoCoefficients kAll{
    .clip_range = 0.2, .vf_clip_range = 0.5, .ent_coef = 0.02, .vf_coef = 0.5};

TEST(PpoLoss, GradientEqualsFiniteDifferences) {
  const Minibatch minibatch;
  const torch::Tensor parameters = 0.3 * noise(11, {5});
  const PpoDenominators denominators = count_terms(minibatch.part(parameters, kWhole));
  const auto f = [&](const torch::Tensor& x) {
    return ppo_loss(minibatch.part(x, kWhole), denominators, kAll).loss;
  };
  expect_gradient(f, parameters);
}

TEST(PpoLoss, PartsOfABatchAddUpToTheJoinedBatch) {
  const Minibatch minibatch;
  const torch::Tensor start = 0.3 * noise(11, {5});
  torch::Tensor joined = start.clone().requires_grad_();
  const PpoLossInputs whole = minibatch.part(joined, kWhole);
  const PpoDenominators denominators = count_terms(whole);
  const PpoLoss expected = ppo_loss(whole, denominators, kAll);
  expected.loss.backward();

  const std::vector<std::vector<std::array<std::int64_t, 4>>> splits{
      {kWhole},
      {{0, 30, 0, 3}, {30, 37, 3, 20}},
      {{0, 11, 0, 20}, {11, 11, 20, 20}, {11, 37, 20, 20}}};  // a rank without decisions or states
  for (const auto& split : splits) {
    torch::Tensor parameters = start.clone().requires_grad_();
    torch::Tensor loss = torch::zeros({}, torch::kFloat64);
    torch::Tensor sums = torch::zeros({kNumPpoSums}, torch::kFloat64);
    for (const auto& cut : split) {
      const PpoLoss part = ppo_loss(minibatch.part(parameters, cut), denominators, kAll);
      part.loss.backward();  // adds to the gradient, as a sum over ranks does
      loss += part.loss.detach();
      sums += part.sums;
    }
    // About a hundred doubles near 1 are added in another order; each addition may round
    // differently by 1e-16.
    EXPECT_NEAR(loss.item<double>(), expected.loss.item<double>(), 1e-13);
    EXPECT_LT(distance(parameters.grad(), joined.grad()), 1e-13);
    EXPECT_LT(distance(sums, expected.sums), 1e-12);
  }
}

TEST(PpoLoss, StatisticsAreMeansOverTheirTerms) {
  const Minibatch minibatch;
  const PpoLossInputs in = minibatch.part(0.3 * noise(11, {5}), kWhole);
  const PpoDenominators denominators = count_terms(in);
  const PpoLoss out = ppo_loss(in, denominators, kAll);
  const PpoStatistics got = ppo_statistics(out.sums);

  const torch::Tensor mask = in.decisions.mask;
  const torch::Tensor log_ratio = (in.decisions.log_prob - in.decisions.old_log_prob).index({mask});
  const torch::Tensor selection_log_ratio = in.selections.log_prob - in.selections.old_log_prob;
  const auto count = static_cast<double>(log_ratio.numel());
  const auto kl = [](const torch::Tensor& x) { return (x.exp() - 1 - x).sum().item<double>(); };
  const auto clipped = [](const torch::Tensor& x) {
    return ((x.exp() > 1.2) | (x.exp() < 0.8)).sum().item<double>();
  };
  EXPECT_EQ(got.decisions, count);
  EXPECT_EQ(got.selections, 20.0);
  EXPECT_NEAR(got.approx_kl, (kl(log_ratio) + kl(selection_log_ratio)) / count, 1e-13);
  EXPECT_NEAR(got.clip_fraction, (clipped(log_ratio) + clipped(selection_log_ratio)) / (count + 20),
              1e-14);
  EXPECT_NEAR(got.entropy, in.decisions.entropy.index({mask}).mean().item<double>(), 1e-13);
  EXPECT_NEAR(got.selection_entropy, in.selections.entropy.mean().item<double>(), 1e-13);
  const torch::Tensor error = in.values.returns - in.values.old_values;
  EXPECT_NEAR(got.explained_variance,
              1 - (error.var(false) / in.values.returns.var(false)).item<double>(), 1e-12);
  EXPECT_NEAR(out.loss.item<double>(),
              got.policy_loss - 0.02 * (got.entropy + got.selection_entropy * 20 / count) +
                  0.5 * got.value_loss,
              1e-13);
}

TEST(PpoStatistics, AreZeroWithoutTerms) {
  const PpoStatistics got = ppo_statistics(torch::zeros({kNumPpoSums}, torch::kFloat64));
  EXPECT_EQ(got.policy_loss, 0.0);
  EXPECT_EQ(got.approx_kl, 0.0);
  EXPECT_EQ(got.explained_variance, 0.0);
  EXPECT_THROW(ppo_statistics(torch::zeros({3}, torch::kFloat64)), ShapeError);
}

TEST(KlStop, StopsAboveOneAndAHalfTimesTheTarget) {
  EXPECT_FALSE(is_kl_over(0.03, 0.02));
  EXPECT_TRUE(is_kl_over(0.031, 0.02));
  EXPECT_FALSE(is_kl_over(100.0, 0.0));
  EXPECT_TRUE(is_kl_over(std::numeric_limits<double>::quiet_NaN(), 0.0));
}

TEST(PpoLoss, RefusesTensorsOfOtherShapes) {
  PolicyTerms terms = decisions_with_ratios({1.0, 1.0}, {1, 1});
  terms.advantages = f64({1});
  EXPECT_THROW(policy_loss(terms), ShapeError);
  terms = decisions_with_ratios({1.0, 1.0}, {1, 1});
  terms.mask = torch::ones({2}, torch::kInt64);
  EXPECT_THROW(policy_loss(terms), ShapeError);
  ValueTerms values{.values = f64({1}), .old_values = f64({1}), .returns = f64({1, 2})};
  EXPECT_THROW(value_loss_sum(values, 0.0), ShapeError);
}

}  // namespace
}  // namespace traffic::rl
