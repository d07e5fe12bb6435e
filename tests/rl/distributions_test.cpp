#include "traffic/rl/distributions.h"

#include <gtest/gtest.h>

#include <cmath>

#include "helpers.h"
#include "support/uniforms.h"
#include "traffic/core/error.h"

namespace traffic::rl {
namespace {

using test::draw_uniforms;
using testing::distance;
using testing::expect_gradient;
using testing::f64;
using testing::i64;
using testing::noise;

TEST(Categorical, LogProbAndEntropyEqualThoseOfTheSoftmax) {
  const Categorical two(f64({1.0, 2.0}).view({1, 2}));
  const double p = 1.0 / (1.0 + std::exp(1.0));
  EXPECT_NEAR(two.log_prob(i64({0})).item<double>(), std::log(p), 1e-14);
  EXPECT_NEAR(two.entropy().item<double>(), -p * std::log(p) - (1 - p) * std::log(1 - p), 1e-14);
  EXPECT_EQ(two.greedy().item<std::int64_t>(), 1);
}

TEST(Categorical, SamplesWithItsProbabilities) {
  constexpr std::int64_t kDraws = 20000;
  const Categorical many(torch::tensor({0.5F, -1.F, 0.F}).expand({kDraws, 3}));
  Rng rng(21);
  const torch::Tensor counts =
      many.sample(draw_uniforms(rng, {kDraws, 3})).bincount({}, 3).to(torch::kFloat64);
  const torch::Tensor expected = many.log_probs()[0].to(torch::kFloat64).exp() * kDraws;
  const torch::Tensor chi_square = ((counts - expected).square() / expected).sum();
  // With 2 degrees of freedom, 0.1 % of seeds exceed this by chance.
  EXPECT_LT(chi_square.item<double>(), 13.82);
}

TEST(Categorical, GradientsEqualFiniteDifferences) {
  const torch::Tensor logits = noise(1, {3, 4});
  const torch::Tensor actions = i64({0, 3, 1});
  expect_gradient([&](const torch::Tensor& x) { return Categorical(x).log_prob(actions).sum(); },
                  logits);
  expect_gradient([&](const torch::Tensor& x) { return Categorical(x).entropy().sum(); }, logits);
}

TEST(Categorical, AcceptsABatchWithoutDecisions) {
  const Categorical none(torch::zeros({0, 4}));
  EXPECT_EQ(none.sample(torch::zeros({0, 4})).numel(), 0);
  EXPECT_EQ(none.entropy().numel(), 0);
}

TEST(Categorical, RefusesTensorsOfOtherShapes) {
  EXPECT_THROW(Categorical(torch::zeros({3})), ShapeError);
  EXPECT_THROW(Categorical(torch::zeros({3, 2}, torch::kInt64)), ShapeError);
  const Categorical three(torch::zeros({3, 2}));
  EXPECT_THROW(static_cast<void>(three.log_prob(i64({0}))), ShapeError);
  EXPECT_THROW(static_cast<void>(three.sample(torch::zeros({3, 3}))), ShapeError);
}

TEST(BoundedGaussian, SamplesWithItsMeanAndDeviation) {
  const BoundedGaussian many(torch::full({20000, 1}, 0.7F), torch::full({1}, std::log(0.2F)), {});
  Rng rng(4);
  const torch::Tensor raw = many.sample(draw_uniforms(rng, {20000, 1}));
  EXPECT_TRUE(raw.isfinite().all().item<bool>());
  // The tolerances are four standard errors of n = 20,000 draws: .2 / sqrt(n), and .2 / sqrt(2 n).
  EXPECT_NEAR(raw.mean().item<double>(), 0.7, 4 * 0.2 / std::sqrt(20000.0));
  EXPECT_NEAR(raw.std().item<double>(), 0.2, 4 * 0.2 / std::sqrt(40000.0));
}

TEST(BoundedGaussian, DensityOfTheTanhActionIntegratesToOne) {
  const ActionBounds bounds{.low = 2.0, .high = 6.0};
  const torch::Tensor action = torch::linspace(2.0, 6.0, 40003, torch::kFloat64).slice(0, 1, -1);
  const torch::Tensor raw = ((action - 4.0) / 2.0).atanh().unsqueeze(1);
  const BoundedGaussian one(torch::full_like(raw, 0.3), f64({-0.5}), bounds);
  const double step = 4.0 / 40002.0;
  // The tolerance covers the error of the rectangle rule, of order step^2 times the slope at the
  // bounds.
  EXPECT_NEAR(one.log_prob(raw).exp().sum().item<double>() * step, 1.0, 1e-6);
}

TEST(BoundedGaussian, ExtremeSamplesHaveFiniteLogProb) {
  const BoundedGaussian one(torch::zeros({2, 1}), torch::zeros({1}), {});
  const torch::Tensor log_prob = one.log_prob(torch::tensor({-60.F, 60.F}).view({2, 1}));
  EXPECT_TRUE(log_prob.isfinite().all().item<bool>());
  EXPECT_EQ(log_prob[0].item<float>(), log_prob[1].item<float>());  // both symmetric about 0
}

TEST(BoundedGaussian, GradientsEqualFiniteDifferences) {
  const torch::Tensor raw = noise(3, {4, 2});
  const ActionBounds bounds{.low = -1.0, .high = 4.0};
  const auto f = [&](const torch::Tensor& x) {
    const BoundedGaussian policy(x.slice(1, 0, 2), x.slice(1, 2, 4), bounds);
    return policy.log_prob(raw).sum() + policy.entropy().sum();
  };
  expect_gradient(f, 0.5 * noise(4, {4, 4}));
}

TEST(BoundedGaussian, RefusesTensorsOfOtherShapes) {
  EXPECT_THROW(BoundedGaussian(torch::zeros({3, 2}), torch::zeros({3}), {}), ShapeError);
  EXPECT_THROW(BoundedGaussian(torch::zeros({3, 2}), torch::zeros({2}), {.low = 1.0, .high = 1.0}),
               ConfigError);
}

TEST(KlK3, IsNeverNegativeAndEstimatesTheKl) {
  const torch::Tensor old_logits = f64({0.2, -0.3, 0.5}).view({1, 3});
  const torch::Tensor new_logits = f64({0.6, -0.5, 0.1}).view({1, 3});
  const torch::Tensor old_log_probs = old_logits.log_softmax(1);
  const torch::Tensor log_ratio = new_logits.log_softmax(1) - old_log_probs;
  EXPECT_GE(kl_k3(log_ratio).min().item<double>(), 0.0);
  // The mean of k3 under the old policy is exactly the KL, because the mean of the ratios is 1.
  const double kl = -(old_log_probs.exp() * log_ratio).sum().item<double>();
  EXPECT_NEAR((old_log_probs.exp() * kl_k3(log_ratio)).sum().item<double>(), kl, 1e-14);
}

TEST(DrawUniforms, DependOnTheStreamAndStayBelowOne) {
  Rng rng(1);
  const torch::Tensor both = draw_uniforms(rng, {2, 5000});
  Rng again(1);
  const torch::Tensor first = draw_uniforms(again, {5000});
  const torch::Tensor second = draw_uniforms(again, {5000});
  EXPECT_TRUE(torch::equal(both, torch::stack({first, second})));
  EXPECT_GE(both.min().item<float>(), 0.F);
  EXPECT_LT(both.max().item<float>(), 1.F);
  EXPECT_NEAR(both.mean().item<double>(), 0.5, 4 * 0.289 / 100.0);  // four standard errors
}

}  // namespace
}  // namespace traffic::rl
