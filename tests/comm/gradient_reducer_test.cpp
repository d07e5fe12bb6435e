#include "traffic/comm/gradient_reducer.h"

#include <gmock/gmock.h>
#include <torch/nn/modules/container/sequential.h>
#include <torch/types.h>
#include <torch/utils.h>

#include <limits>

#include "reducer_fixture.h"

namespace traffic::comm {
namespace {

/// A number of samples that differs by rank and step if batches are uneven, else 4.
std::int64_t batch_size_of(int rank, int step, bool uneven) {
  return uneven ? 1 + (5 * step + 3 * rank + 1) % 7 : 4;
}

at::Tensor samples(int rank, int step, bool uneven) {
  torch::manual_seed(static_cast<std::uint64_t>(100 * step + rank));
  return torch::randn({batch_size_of(rank, step, uneven), 7});
}

at::Tensor loss_of(torch::nn::Sequential& model, const at::Tensor& batch) {
  return model->forward(batch).square().mean();
}

class GradientReducerTest : public ReducerTest {
 protected:
  GradientReducerTest() : ReducerTest(small_model()) {}

  /// The gradient that a single rank would compute for the joined batch of all ranks and steps.
  [[nodiscard]] at::Tensor joined_gradient(int num_steps, bool uneven) const {
    torch::nn::Sequential model = small_model();
    const ParameterArena parameters(named_parameters(model));
    std::vector<at::Tensor> batches;
    for (int step = 0; step < num_steps; ++step) {
      for (int r = 0; r < comm_->size(); ++r) batches.push_back(samples(r, step, uneven));
    }
    loss_of(model, torch::cat(batches)).backward();
    at::Tensor flat = torch::zeros_like(parameters.flat());
    for (const ArenaEntry& entry : parameters.entries()) {
      flat.narrow(0, entry.offset, entry.numel)
          .copy_(model->named_parameters()[entry.name].grad().flatten());
    }
    return flat;
  }

  std::optional<ReduceResult> pass(GradientReducer& reducer, const at::Tensor& batch, double weight,
                                   double loss_scale = 1.0) {
    const double factor = reducer.before_backward(weight, loss_scale);
    (loss_of(model_, batch) * factor).backward();
    return reducer.after_backward();
  }

  /// Runs backward and reduce for each step; returns the last result.
  ReduceResult train_step(GradientReducer& reducer, int num_steps, bool uneven) {
    std::optional<ReduceResult> result;
    for (int step = 0; step < num_steps; ++step) {
      const at::Tensor batch = samples(comm_->rank(), step, uneven);
      result = pass(reducer, batch, static_cast<double>(batch.size(0)));
      EXPECT_EQ(result.has_value(), step == num_steps - 1);
    }
    return *result;
  }
};

// The ranks add terms of at most 1 in another order than a single rank does, so the float32 sums
// differ by some units in the last place.
constexpr double kTolerance = 1e-6;

TEST_P(GradientReducerTest, SeveralRanksEqualOneRankOnTheJoinedBatch) {
  GradientReducer reducer(*comm_, *gradients_, {});
  const ReduceResult result = train_step(reducer, 1, false);
  const at::Tensor expected = joined_gradient(1, false);
  EXPECT_TRUE(at::allclose(gradients_->flat(), expected, kTolerance, kTolerance));
  EXPECT_NEAR(result.grad_norm, expected.norm().item<double>(), kTolerance);
  EXPECT_TRUE(result.finite);
  EXPECT_EQ(result.clip_factor, 1.0);
  EXPECT_NO_THROW(check_replicas_equal(*comm_, gradients_->flat(), "gradients"));
}

TEST_P(GradientReducerTest, UnevenBatchesAreWeightedBySamples) {
  GradientReducer reducer(*comm_, *gradients_, {});
  train_step(reducer, 1, true);
  EXPECT_TRUE(at::allclose(gradients_->flat(), joined_gradient(1, true), kTolerance, kTolerance));
}

TEST_P(GradientReducerTest, ARankWithoutSamplesCountsForNothing) {
  GradientReducer reducer(*comm_, *gradients_, {});
  gradients_->flat().fill_(comm_->rank() + 1.0);
  reducer.reduce(comm_->rank() == 0 ? 8.0 : 0.0);
  EXPECT_TRUE((gradients_->flat() == 1.0).all().item<bool>());
}

TEST_P(GradientReducerTest, AccumulatedStepsEqualTheJoinedBatch) {
  GradientReducer reducer(*comm_, *gradients_, {.accumulation_steps = 3});
  train_step(reducer, 3, true);
  EXPECT_TRUE(at::allclose(gradients_->flat(), joined_gradient(3, true), kTolerance, kTolerance));
}

TEST_P(GradientReducerTest, AccumulationIgnoresABatchOfRepeatedSamples) {
  // The batch of repeated samples is the last one, or the first and the last one.
  for (const int fillers : {1, 2}) {
    gradients_->zero();
    GradientReducer reducer(*comm_, *gradients_, {.accumulation_steps = 2 + fillers});
    const at::Tensor filler = 100.0 * samples(comm_->rank(), 9, true);
    if (fillers == 2) pass(reducer, filler, 0.0, 8.0);
    for (int step = 0; step < 2; ++step) {
      const at::Tensor batch = samples(comm_->rank(), step, true);
      pass(reducer, batch, static_cast<double>(batch.size(0)), 8.0);
    }
    ASSERT_TRUE(pass(reducer, filler, 0.0, 8.0)->finite);
    EXPECT_TRUE(at::allclose(gradients_->flat(), joined_gradient(2, true), kTolerance, kTolerance));
  }
}

TEST_P(GradientReducerTest, AnUpdateOfRepeatedSamplesOnlyIsZero) {
  GradientReducer reducer(*comm_, *gradients_, {.accumulation_steps = 2});
  pass(reducer, samples(comm_->rank(), 0, true), 0.0);
  const auto result = pass(reducer, samples(comm_->rank(), 1, true), 0.0);
  EXPECT_TRUE((gradients_->flat() == 0.0).all().item<bool>());
  EXPECT_EQ(result->grad_norm, 0.0);
}

TEST_P(GradientReducerTest, CompressionCostsOnlyTheRoundingOfItsType) {
  const at::Tensor exact = joined_gradient(1, false);
  for (const auto compression : {Compression::kFp16, Compression::kBf16}) {
    gradients_->zero();
    GradientReducer reducer(*comm_, *gradients_, {.compression = compression});
    const ReduceResult result = train_step(reducer, 1, false);
    // Each rank's part and each sum is rounded to 11 or 8 bits; parts are at most 1.
    const double tolerance = (compression == Compression::kFp16 ? 0x1p-11 : 0x1p-8) * 2;
    const at::Tensor& flat = gradients_->flat();
    EXPECT_LE((flat - exact).abs().max().item<double>(), tolerance);
    EXPECT_NEAR(result.grad_norm, flat.norm().item<double>(), kTolerance);
    EXPECT_NO_THROW(check_replicas_equal(*comm_, flat, "gradients"));
  }
}

TEST_P(GradientReducerTest, DetectsAnOverflowInTheCompressedType) {
  GradientReducer reducer(*comm_, *gradients_, {.compression = Compression::kFp16});
  gradients_->flat().fill_(1e6);  // above the largest fp16 number
  EXPECT_FALSE(reducer.reduce()->finite);
}

TEST_P(GradientReducerTest, ClipsToTheNormOfTheAverage) {
  GradientReducer reducer(*comm_, *gradients_, {.clip_norm = 0.01});
  const ReduceResult result = train_step(reducer, 1, false);
  EXPECT_GT(result.grad_norm, 0.01);
  EXPECT_NEAR(result.clip_factor, 0.01 / result.grad_norm, 1e-4);
}

TEST_P(GradientReducerTest, ASmallGradientIsNotClipped) {
  GradientReducer reducer(*comm_, *gradients_, {.clip_norm = 1e6});
  EXPECT_EQ(train_step(reducer, 1, false).clip_factor, 1.0);
}

TEST_P(GradientReducerTest, AllRanksDetectANanOfOneRank) {
  GradientReducer reducer(*comm_, *gradients_, {.clip_norm = 1.0});
  if (comm_->rank() == comm_->size() - 1) {
    gradients_->flat()[0] = std::numeric_limits<float>::quiet_NaN();
  }
  EXPECT_FALSE(reducer.reduce()->finite);
  gradients_->zero();
  EXPECT_TRUE(reducer.reduce()->finite) << "a NaN must not affect the next step";
}

TEST_P(GradientReducerTest, ReplicasThatDriftedApartAreNamed) {
  EXPECT_NO_THROW(check_replicas_equal(*comm_, parameters_.flat(), "parameters"));
  if (comm_->rank() == 1) parameters_.flat()[5] += 1e-6;
  try {
    check_replicas_equal(*comm_, parameters_.flat(), "parameters");
    FAIL() << "expected an error: rank 1 has other parameters";
  } catch (const CommError& error) {
    EXPECT_THAT(error.what(), ::testing::HasSubstr("parameters differs"));
    EXPECT_THAT(error.what(), ::testing::HasSubstr("rank 1 "));
  }
}

INSTANTIATE_TEST_SUITE_P(Backends, GradientReducerTest, ::testing::ValuesIn(mpi_backends()),
                         backend_name);

TEST(CompressionTest, KnowsItsNames) {
  EXPECT_EQ(parse_compression("none"), Compression::kNone);
  EXPECT_EQ(parse_compression("bf16"), Compression::kBf16);
  EXPECT_THROW(parse_compression("int8"), ConfigError);
}

}  // namespace
}  // namespace traffic::comm
