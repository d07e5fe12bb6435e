/// Tests of SliceOptimiser, in which each rank runs Adam on its slice of the parameters. They run
/// on 1, 2 and 3 ranks.
#include "train/optim/slice_optimiser.h"

#include <gmock/gmock.h>

#include <limits>

#include "mpi_main.h"
#include "traffic/core/error.h"

namespace traffic::train {
namespace {

TEST(SliceOptimiser, FailsAfterTenGradientsInARowThatAreNotFinite) {
  const auto communicator = comm::make_communicator(traffic::testing::mpi_session(), at::kCPU, {});
  const torch::Tensor gradients = torch::zeros({3});
  SliceOptimiser optimiser({.name = "policy",
                            .learning_rate_key = "ppo.learning_rate",
                            .parameters = torch::ones({3}),
                            .gradients = gradients},
                           *communicator);
  const auto step = [&](bool finite) {
    gradients.fill_(1.0);
    const bool is_last = communicator->rank() == communicator->size() - 1;
    if (!finite && is_last) gradients[0] = std::numeric_limits<float>::quiet_NaN();
    const auto norm = optimiser.reduce();
    if (norm) optimiser.step(0.1, 0.5);
    return norm;
  };
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < 9; ++i) EXPECT_FALSE(step(false));
    EXPECT_GT(step(true).value_or(0.0), 0.0) << "a finite gradient must restart the count";
  }
  EXPECT_EQ(optimiser.skipped_steps(), 18);
  EXPECT_EQ(optimiser.num_steps(), 2);
  for (int i = 0; i < 9; ++i) step(false);
  try {
    step(false);
    FAIL() << "expected an error after ten non-finite gradients in a row";
  } catch (const NumericError& error) {
    EXPECT_THAT(error.what(), ::testing::HasSubstr("a lower ppo.learning_rate"));
  }
}

TEST(SliceOptimiser, WeightDecayPullsParametersWithoutAGradientToZero) {
  const auto communicator = comm::make_communicator(traffic::testing::mpi_session(), at::kCPU, {});
  for (const double weight_decay : {0.0, 1e-4}) {
    const torch::Tensor parameters = torch::tensor({1.0F, -1.0F});
    SliceOptimiser optimiser({.name = "policy",
                              .learning_rate_key = "ppo.learning_rate",
                              .parameters = parameters,
                              .gradients = torch::zeros({2}),
                              .weight_decay = weight_decay},
                             *communicator);
    ASSERT_TRUE(optimiser.reduce().has_value());
    optimiser.step(0.1, 1.0);
    // The length of Adam's first step is the learning rate, for any gradient other than 0.
    const float expected = weight_decay > 0.0 ? 0.9F : 1.0F;
    EXPECT_NEAR(parameters[0].item<float>(), expected, 1e-4);
    EXPECT_NEAR(parameters[1].item<float>(), -expected, 1e-4);
  }
}

}  // namespace
}  // namespace traffic::train
