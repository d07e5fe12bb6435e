#include "traffic/comm/flat_arena.h"

#include <gmock/gmock.h>
#include <torch/nn/modules/container/sequential.h>
#include <torch/types.h>

#include "backends.h"
#include "model_helper.h"

namespace traffic::comm {
namespace {

using ::testing::HasSubstr;

TEST(ParameterArenaTest, KeepsValuesAndResultsOfTheModel) {
  torch::nn::Sequential model = small_model();
  const at::Tensor input = torch::randn({5, 7});
  const at::Tensor before = model->forward(input);
  const ParameterArena arena(named_parameters(model));
  EXPECT_TRUE(at::equal(model->forward(input), before));
}

TEST(ParameterArenaTest, AlignsEveryParameterTo64Bytes) {
  const torch::nn::Sequential model = small_model();
  const ParameterArena arena(named_parameters(model));
  std::int64_t end = 0;
  for (const ArenaEntry& entry : arena.entries()) {
    EXPECT_EQ(entry.offset % 16, 0);
    EXPECT_GE(entry.offset, end);
    end = entry.offset + entry.numel;
  }
  EXPECT_GE(arena.flat().numel(), end);
  EXPECT_EQ(arena.entries().back().name, "2.bias");
  EXPECT_EQ(arena.entries().back().sizes, std::vector<std::int64_t>{3});
}

TEST(ParameterArenaTest, AWriteToTheFlatTensorIsAWriteToTheModel) {
  torch::nn::Sequential model = small_model();
  const ParameterArena arena(named_parameters(model));
  arena.flat().fill_(0.5);
  for (const at::Tensor& parameter : model->parameters()) {
    EXPECT_TRUE((parameter == 0.5).all().item<bool>());
    EXPECT_TRUE(parameter.requires_grad());
  }
}

TEST(ParameterArenaTest, RefusesParametersThatCannotShareAnArena) {
  const at::Tensor a = torch::ones({2}, torch::requires_grad());
  EXPECT_THROW(ParameterArena({}), ShapeError);
  EXPECT_THROW(ParameterArena({{"a", a}, {"again", a}}), ShapeError);
  EXPECT_THROW(ParameterArena({{"double", torch::ones({2}, torch::kDouble)}}), ShapeError);
}

class GradientArenaTest : public ::testing::Test {
 protected:
  std::unique_ptr<Communicator> comm_ = make_backend({"OneNode"});
  torch::nn::Sequential model_ = small_model();
  ParameterArena parameters_{named_parameters(model_)};
};

TEST_F(GradientArenaTest, AutogradAddsToTheFlatTensor) {
  GradientArena gradients(parameters_, *comm_);
  const at::Tensor input = torch::randn({5, 7});
  model_->forward(input).square().mean().backward();
  const at::Tensor once = gradients.flat().clone();
  EXPECT_GT(once.norm().item<double>(), 0.0);
  model_->forward(input).square().mean().backward();
  EXPECT_NO_THROW(gradients.check_views());
  // Two equal terms: their sum is exact.
  EXPECT_TRUE(at::equal(gradients.flat(), once * 2));
  gradients.zero();
  EXPECT_EQ(gradients.flat().count_nonzero().item<std::int64_t>(), 0);
  EXPECT_NO_THROW(gradients.check_views());
}

TEST_F(GradientArenaTest, AParameterThatIsNotUsedKeepsZeros) {
  auto parameters = named_parameters(model_);
  const at::Tensor unused = torch::ones({4}, torch::requires_grad());
  parameters.emplace_back("unused", unused);
  const ParameterArena arena(parameters);
  const GradientArena gradients(arena, *comm_);
  model_->forward(torch::randn({5, 7})).sum().backward();
  EXPECT_NO_THROW(gradients.check_views());
  EXPECT_EQ(unused.grad().count_nonzero().item<std::int64_t>(), 0);
}

TEST_F(GradientArenaTest, NamesAParameterWhoseGradientWasReplaced) {
  const GradientArena gradients(parameters_, *comm_);
  model_->zero_grad(/*set_to_none=*/true);
  model_->forward(torch::randn({5, 7})).sum().backward();
  try {
    gradients.check_views();
    FAIL() << "expected an error: a gradient is not in the arena";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("0.weight"));
  }
}

TEST_F(GradientArenaTest, RefusesFrozenParameters) {
  model_->parameters()[0].requires_grad_(false);
  EXPECT_THROW(GradientArena(parameters_, *comm_), ShapeError);
}

TEST_F(GradientArenaTest, ItsDestructorRemovesTheGradientsOfTheModel) {
  { const GradientArena gradients(parameters_, *comm_); }
  EXPECT_FALSE(model_->parameters()[0].grad().defined());
}

}  // namespace
}  // namespace traffic::comm
