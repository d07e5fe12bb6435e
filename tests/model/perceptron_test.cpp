/// Compares the controller's layers, each of which is one node of autograd's graph, with the same
/// layers made of single operations, forward and backward.
#include "model/perceptron.h"

#include <gtest/gtest.h>
#include <torch/autograd.h>
#include <torch/types.h>
#include <torch/utils.h>

#include <vector>

#include "model/controller_heads.h"

namespace traffic::model {
namespace {

/// Tolerance for float sums of up to 40 products of order 1.
constexpr double kRounding = 1e-4;

void expect_close(const std::vector<torch::Tensor>& a, const std::vector<torch::Tensor>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    ASSERT_EQ(a[i].sizes(), b[i].sizes());
    EXPECT_TRUE(torch::allclose(a[i], b[i], kRounding, kRounding)) << "tensor " << i;
  }
}

torch::Tensor leaf(torch::IntArrayRef sizes) {
  return (0.5 * torch::randn(sizes)).requires_grad_();
}

DenseParameters layer(std::int64_t in, std::int64_t out) {
  return {.weight = leaf({out, in}), .bias = leaf({out})};
}

/// Value and gradients of a scalar computed from y.
std::vector<torch::Tensor> value_and_gradients(const torch::Tensor& y,
                                               const std::vector<torch::Tensor>& leaves) {
  const torch::Tensor weight = torch::linspace(-1.0, 1.0, y.numel()).view(y.sizes());
  std::vector<torch::Tensor> all = torch::autograd::grad({(weight * y).sum()}, leaves);
  all.push_back(y.detach());
  return all;
}

class Perceptron : public ::testing::TestWithParam<std::int64_t> {
 protected:
  static constexpr std::int64_t kGroups = 4;

  Perceptron() {
    torch::manual_seed(3);
    const std::int64_t rows = GetParam();
    input_ = {.rows = torch::randn({rows, 9}),
              .shared = torch::randn({kGroups, 5}),
              .group = std::get<0>(torch::randint(kGroups, {rows}, torch::kLong).sort())};
  }
  PerceptronInput input_;
};

TEST_P(Perceptron, EqualsTheRecordedOperations) {
  const DenseParameters rows = layer(9, 16);
  const DenseParameters shared = layer(5, 16);
  const DenseParameters hidden = layer(16, 12);
  const auto expect_same = [](const PerceptronInput& input, const PerceptronParameters& parameters,
                              const std::vector<torch::Tensor>& leaves) {
    expect_close(value_and_gradients(perceptron(input, parameters), leaves),
                 value_and_gradients(perceptron_by_operations(input, parameters), leaves));
  };
  expect_same(input_, {.rows = rows, .shared = shared, .hidden = {hidden, layer(12, 7)}},
              {rows.weight, rows.bias, shared.weight, shared.bias, hidden.weight, hidden.bias});
  expect_same({.rows = input_.rows}, {.rows = rows}, {rows.weight, rows.bias});
  expect_same({.shared = input_.shared, .group = input_.group},
              {.shared = shared, .hidden = {hidden}},
              {shared.weight, shared.bias, hidden.weight, hidden.bias});
}

TEST_P(Perceptron, HeadsEqualTheRecordedOperations) {
  const torch::Tensor x = leaf({GetParam(), 16});
  const HeadParameters parameters{.command_weight = leaf({3, 16}),
                                  .command_bias = leaf({3}),
                                  .importance_weight = leaf({1, 16}),
                                  .impact_weight = leaf({1, 4})};
  // As in the controller, the latents are the last columns of longer rows.
  const torch::Tensor latents = torch::randn({GetParam(), 9}).narrow(1, 5, 4);
  const HeadScales scales{.importance = 0.7, .impact = 0.3};
  const auto all = [&](const HeadOutputs& out, const std::vector<torch::Tensor>& leaves) {
    return value_and_gradients(torch::cat({out.commands, out.score.unsqueeze(1)}, 1), leaves);
  };
  const std::vector<torch::Tensor> leaves = {x, parameters.command_weight, parameters.command_bias,
                                             parameters.importance_weight};
  auto with_impact = leaves;
  with_impact.push_back(parameters.impact_weight);
  expect_close(all(controller_heads(x, latents, parameters, scales), with_impact),
               all(controller_heads_by_operations(x, latents, parameters, scales), with_impact));
  expect_close(all(controller_heads(x, {}, parameters, scales), leaves),
               all(controller_heads_by_operations(x, {}, parameters, scales), leaves));
}

TEST_P(Perceptron, WithoutGradientsGivesTheSameBits) {
  const PerceptronParameters parameters{.rows = layer(9, 16), .hidden = {layer(16, 12)}};
  const torch::Tensor training = perceptron({.rows = input_.rows}, parameters).detach();
  const torch::InferenceMode inference;
  EXPECT_TRUE(torch::equal(perceptron({.rows = input_.rows}, parameters), training));
}

// Numbers of candidates: none, one, and many.
INSTANTIATE_TEST_SUITE_P(Rows, Perceptron, ::testing::Values(0, 1, 40));

}  // namespace
}  // namespace traffic::model
