/// Compares the loops used on the CPU with the tensor operations used on GPUs.
#include <gtest/gtest.h>
#include <torch/autograd.h>

#include <cmath>
#include <vector>

#include "helpers.h"
#include "rl/plackett_luce_terms.h"
#include "rl/ppo_loss_terms.h"
#include "traffic/core/error.h"
#include "traffic/rl/distributions.h"
#include "traffic/rl/plackett_luce.h"

namespace traffic::rl {
namespace {

using testing::distance;
using testing::i64;
using testing::noise;

/// Tolerance for the rounding of sums of about ten terms of order 1 to 10.
constexpr double kRounding = 1e-12;

TEST(InLoops, SelectionsEqualThoseOfOperations) {
  // Numbers of candidates: none, one, as many as are picked, and more.
  const Segments segments(i64({0, 0, 1, 4, 10, 17}));
  const torch::Tensor scores = 3.0 * noise(2, {17});
  const torch::Tensor picks = PlackettLuce(scores, segments).greedy(3);
  const auto expect_same = [](const SelectionTerm& a, const SelectionTerm& b) {
    EXPECT_LT(distance(a.value, b.value), kRounding);
    EXPECT_LT(distance(a.slope, b.slope), kRounding);
  };
  ASSERT_TRUE((picks < 0).any().item<bool>());
  expect_same(selection_log_prob_in_loops(scores, segments, picks),
              selection_log_prob_by_operations(scores, segments, picks));
  expect_same(selection_entropy_in_loops(scores, segments),
              selection_entropy_by_operations(scores, segments));
}

TEST(InLoops, CategoricalTermsEqualThoseOfTheDistribution) {
  const torch::Tensor rows = i64({4, 0, 4, 2});  // one row twice, some never
  const torch::Tensor actions = i64({2, 0, 1, 1});
  const torch::Tensor weight = noise(3, {2, 4});
  const auto in_loops = [&](const torch::Tensor& logits) {
    const ActionTerms terms = categorical_terms(logits, {.row = rows, .action = actions});
    return (weight[0] * terms.log_prob + weight[1] * terms.entropy).sum();
  };
  const auto by_operations = [&](const torch::Tensor& logits) {
    const Categorical of_rows(logits.index_select(0, rows));
    return (weight[0] * of_rows.log_prob(actions) + weight[1] * of_rows.entropy()).sum();
  };
  const torch::Tensor logits = 2.0 * noise(4, {5, 3});
  EXPECT_LT(distance(in_loops(logits), by_operations(logits)), kRounding);
  EXPECT_LT(distance(testing::autograd_gradient(in_loops, logits),
                     testing::autograd_gradient(by_operations, logits)),
            kRounding);
  EXPECT_THROW(categorical_terms(logits, {.row = i64({5}), .action = i64({0})}), ShapeError);
  EXPECT_THROW(categorical_terms(logits, {.row = i64({0}), .action = i64({3})}), ShapeError);
}

/// Forty decisions, ten selections and values, some of them masked; about half of the ratios are
/// clipped.
class LossInLoops : public ::testing::Test {
 protected:
  [[nodiscard]] PpoLossInputs inputs() const {
    return {.decisions = {.log_prob = leaf_[0],
                          .old_log_prob = noise(10, {40}),
                          .advantages = noise(11, {40}),
                          .entropy = leaf_[1]},
            .selections = {.log_prob = leaf_[2],
                           .old_log_prob = noise(12, {10}),
                           .advantages = noise(13, {10}),
                           .entropy = leaf_[3],
                           .mask = noise(14, {10}) > 0.0},
            .values = {.values = leaf_[4],
                       .old_values = noise(15, {10, 2}),
                       .returns = noise(16, {10, 2}),
                       .mask = noise(17, {10, 2}) > -0.5}};
  }
  /// The gradients of the loss with respect to all inputs, concatenated.
  torch::Tensor gradient(const torch::Tensor& loss) {
    std::vector<torch::Tensor> all;
    for (const auto& grad : torch::autograd::grad({loss}, leaf_)) all.push_back(grad.flatten());
    return torch::cat(all);
  }

  std::vector<torch::Tensor> leaf_ = {
      noise(5, {40}).requires_grad_(), noise(6, {40}).requires_grad_(),
      noise(7, {10}).requires_grad_(), noise(8, {10}).requires_grad_(),
      noise(9, {10, 2}).requires_grad_()};
};

TEST_F(LossInLoops, LossEqualsThatOfOperations) {
  const PpoDenominators denominators{.decisions = 45.0, .values = 17.0};
  const PpoCoefficients coefficients{
      .clip_range = 0.5, .vf_clip_range = 0.4, .ent_coef = 0.3, .vf_coef = 0.7};
  const PpoLoss a = ppo_loss_in_loops(inputs(), denominators, coefficients);
  const PpoLoss b = ppo_loss_by_operations(inputs(), denominators, coefficients);
  EXPECT_LT(distance(a.loss, b.loss), kRounding);
  EXPECT_LT(distance(a.sums, b.sums), kRounding * 40);
  EXPECT_GT(a.sums[kClippedDecisions].item<double>(), 5.0);
  EXPECT_LT(distance(gradient(a.loss), gradient(b.loss)), kRounding);
}

TEST_F(LossInLoops, ValueLossEqualsThatOfOperations) {
  for (const double range : {0.0, 0.4}) {
    const torch::Tensor a = value_loss_sum_in_loops(inputs().values, range);
    const torch::Tensor b = value_loss_sum_by_operations(inputs().values, range);
    EXPECT_LT(distance(a, b), kRounding * 10);
    EXPECT_LT(distance(torch::autograd::grad({a}, {leaf_[4]})[0],
                       torch::autograd::grad({b}, {leaf_[4]})[0]),
              kRounding);
  }
}

TEST_F(LossInLoops, NanInputsGiveNanGradients) {
  PpoLossInputs in = inputs();
  in.decisions.advantages = torch::full({40}, std::nan(""), torch::kDouble);
  EXPECT_TRUE(gradient(ppo_loss_in_loops(in, {}, {}).loss).isnan().any().item<bool>());
}

}  // namespace
}  // namespace traffic::rl
