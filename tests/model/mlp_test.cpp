#include "traffic/model/mlp.h"

#include <gmock/gmock.h>
#include <torch/types.h>
#include <torch/utils.h>

#include "traffic/model/initialise.h"

namespace traffic::model {
namespace {

/// Computes the layers one by one with ATen operations in double.
torch::Tensor reference(MlpImpl& mlp, torch::Tensor x, const std::vector<torch::Tensor>& p) {
  for (std::size_t at = 0; at < p.size(); at += 2) {
    if (at > 0) x = x.relu();
    x = x.matmul(p[at].t()) + p[at + 1];
  }
  EXPECT_EQ(x.size(1), mlp.shape().outputs);
  return x;
}

TEST(Mlp, EqualsSingleLayersForwardAndBackward) {
  torch::manual_seed(1);
  for (const std::int64_t rows : {1, 5, 192}) {
    Mlp mlp(MlpShape{.inputs = 61, .hidden = {40, 33}, .outputs = 5});
    initialise(*mlp, 7);
    const torch::Tensor x = torch::randn({rows, 61}).set_requires_grad(true);
    const torch::Tensor weights = torch::randn({rows, 5});
    const torch::Tensor y = mlp->forward(x);
    (y * weights).sum().backward();

    std::vector<torch::Tensor> parameters;
    for (const auto& p : mlp->parameters()) {
      parameters.push_back(p.detach().to(torch::kDouble).set_requires_grad(true));
    }
    const torch::Tensor wide = x.detach().to(torch::kDouble).set_requires_grad(true);
    const torch::Tensor expected = reference(*mlp, wide, parameters);
    (expected * weights).sum().backward();
    // The tolerances are for sums of up to 192 float32 products of order one.
    EXPECT_TRUE(torch::allclose(y.to(torch::kDouble), expected, 1e-4, 1e-5));
    EXPECT_TRUE(torch::allclose(x.grad().to(torch::kDouble), wide.grad(), 1e-4, 1e-5));
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      EXPECT_TRUE(torch::allclose(mlp->parameters()[i].grad().to(torch::kDouble),
                                  parameters[i].grad(), 1e-4, 1e-4));
    }
  }
}

TEST(Mlp, AFrozenForwardGivesOnlyTheGradientOfItsInput) {
  torch::manual_seed(2);
  Mlp mlp(MlpShape{.inputs = 6, .hidden = {20}, .outputs = 1});
  initialise(*mlp, 8);
  const torch::Tensor x = torch::randn({9, 6}).set_requires_grad(true);
  mlp->forward_frozen(x).sum().backward();
  for (const auto& p : mlp->parameters()) EXPECT_FALSE(p.grad().defined());
  const torch::Tensor frozen = x.grad().clone();
  x.mutable_grad().zero_();
  mlp->forward(x).sum().backward();
  EXPECT_TRUE(torch::equal(frozen, x.grad()));
}

TEST(Mlp, ARowDoesNotDependOnTheOtherRows) {
  torch::manual_seed(3);
  const torch::NoGradGuard no_grad;
  Mlp mlp(MlpShape{.inputs = 61, .hidden = {128, 128}, .outputs = 5});
  initialise(*mlp, 9);
  const torch::Tensor x = torch::randn({50, 61});
  const torch::Tensor all = mlp->forward(x);
  for (const std::int64_t row : {0, 17, 49}) {
    EXPECT_TRUE(torch::equal(mlp->forward(x.narrow(0, row, 1)), all.narrow(0, row, 1)));
  }
}

}  // namespace
}  // namespace traffic::model
