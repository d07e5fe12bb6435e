/// Tests the reduction of gradients during the backward pass.
#include <gmock/gmock.h>
#include <torch/types.h>
#include <torch/utils.h>

#include <functional>
#include <utility>
#include <vector>

#include "reducer_fixture.h"
#include "traffic/comm/gradient_reducer.h"

namespace traffic::comm {
namespace {

/// Six layers of 64 x 64: a bucket of 40 kB holds two layers and a part of the next.
torch::nn::Sequential deep_model() {
  torch::manual_seed(5);
  torch::nn::Sequential model;
  for (int i = 0; i < 6; ++i) {
    model->push_back(torch::nn::Linear(64, 64));
    model->push_back(torch::nn::Tanh());
  }
  return model;
}

/// A stream that runs work at once in the caller's thread, and calls a function before that.
class WatchedStream final : public SideStream {
 public:
  explicit WatchedStream(std::function<void()> look) : look_(std::move(look)) {}
  void submit(std::function<void()> work) override {
    look_();
    work();
  }
  void join() override {}

 private:
  std::function<void()> look_;
};

class OverlapTest : public ReducerTest {
 protected:
  OverlapTest() : ReducerTest(deep_model()) {}

  GradientReducerOptions small_buckets() const { return {.bucket_cap_mb = 0.04}; }

  /// Backward and reduction of one batch; `weight` is this rank's weight.
  std::optional<ReduceResult> pass(GradientReducer& reducer, int step, double weight = 3.0) {
    torch::manual_seed(static_cast<std::uint64_t>(10 * step + comm_->rank()));
    const at::Tensor batch = torch::randn({4, 64});
    const double factor = reducer.before_backward(weight);
    (model_->forward(batch).square().mean() * factor).backward();
    return reducer.after_backward();
  }

  /// The result of the reducer without overlap for the same batches.
  at::Tensor expected(GradientReducerOptions options, int num_steps) {
    gradients_->zero();
    GradientReducer reducer(*comm_, *gradients_, options);
    for (int step = 0; step < num_steps; ++step) pass(reducer, step, 2.0 + comm_->rank());
    at::Tensor flat = gradients_->flat().clone();
    gradients_->zero();
    return flat;
  }
};

TEST_P(OverlapTest, GivesTheSameBitsAsReductionAfterBackward) {
  for (const Compression compression :
       {Compression::kNone, Compression::kFp16, Compression::kBf16}) {
    GradientReducerOptions options = small_buckets();
    options.compression = compression;
    options.clip_norm = 0.01;
    const at::Tensor whole = expected(options, 1);
    GradientReducer reducer(*comm_, *gradients_, options, make_side_stream(at::kCPU));
    for (int round = 0; round < 3; ++round) {  // later rounds use the order learnt in the first
      gradients_->zero();
      const auto result = pass(reducer, 0, 2.0 + comm_->rank());
      ASSERT_TRUE(result.has_value());
      EXPECT_TRUE(torch::equal(gradients_->flat(), whole));
      EXPECT_LT(result->clip_factor, 1.0);
      EXPECT_NO_THROW(check_replicas_equal(*comm_, gradients_->flat(), "gradients"));
    }
  }
}

TEST_P(OverlapTest, BeginsBeforeBackwardHasReachedTheFirstLayer) {
  std::vector<bool> first_layer_done;
  const at::Tensor first_gradient = parameters_.parameters().front().second.grad();
  GradientReducer reducer(
      *comm_, *gradients_, small_buckets(), std::make_unique<WatchedStream>([&] {
        first_layer_done.push_back(first_gradient.abs().max().item<float>() > 0.0F);
      }));
  pass(reducer, 0);
  ASSERT_GE(first_layer_done.size(), 3U);
  EXPECT_FALSE(first_layer_done.front());
  EXPECT_FALSE(first_layer_done[first_layer_done.size() - 2]);
  EXPECT_TRUE(first_layer_done.back());
}

TEST_P(OverlapTest, DoesNotReduceInInnerAccumulationSteps) {
  int submitted = 0;
  GradientReducerOptions options = small_buckets();
  options.accumulation_steps = 3;
  const at::Tensor whole = expected(options, 3);
  GradientReducer reducer(*comm_, *gradients_, options,
                          std::make_unique<WatchedStream>([&] { ++submitted; }));
  for (int step = 0; step < 3; ++step) {
    const auto result = pass(reducer, step, 2.0 + comm_->rank());
    EXPECT_EQ(result.has_value(), step == 2);
    EXPECT_EQ(submitted > 0, step == 2);
  }
  EXPECT_TRUE(torch::equal(gradients_->flat(), whole));
}

TEST_P(OverlapTest, DoesNotHangOnParametersWithoutAGradient) {
  GradientReducer reducer(*comm_, *gradients_, small_buckets(), make_side_stream(at::kCPU));
  const at::Tensor batch = torch::ones({4, 64});
  // Only the first layer gets gradients. The other parameters are declared as unused only before
  // the second step.
  const auto first_only = [&] {
    gradients_->zero();
    EXPECT_EQ(reducer.before_backward(1.0), 1.0);
    model_[0]->as<torch::nn::Linear>()->forward(batch).square().mean().backward();
    return reducer.after_backward();
  };
  ASSERT_TRUE(first_only().has_value());
  const at::Tensor gradient = gradients_->flat().clone();
  std::vector<std::string> unused;
  for (const auto& [name, parameter] : parameters_.parameters()) {
    if (!name.starts_with("0.")) unused.push_back(name);
  }
  reducer.declare_unused(unused);
  ASSERT_TRUE(first_only().has_value());
  EXPECT_TRUE(torch::equal(gradients_->flat(), gradient));
  EXPECT_GT(gradient.norm().item<float>(), 0.0F);
  EXPECT_THROW(reducer.declare_unused({"no such name"}), ShapeError);
}

TEST_P(OverlapTest, ARankWithoutABackwardStillReducesAsMuchAsTheOthers) {
  GradientReducer reducer(*comm_, *gradients_, small_buckets(), make_side_stream(at::kCPU));
  for (int round = 0; round < 2; ++round) {
    gradients_->zero();
    std::optional<ReduceResult> result;
    if (comm_->rank() == 0) {
      result = pass(reducer, 0);
    } else {
      result = reducer.after_backward();  // this rank's batch failed, so it runs no backward
    }
    ASSERT_TRUE(result.has_value());
    EXPECT_GT(result->grad_norm, 0.0);
    EXPECT_NO_THROW(check_replicas_equal(*comm_, gradients_->flat(), "gradients"));
  }
}

TEST_P(OverlapTest, AllRanksDetectANanOfOneRank) {
  GradientReducer reducer(*comm_, *gradients_, small_buckets(), make_side_stream(at::kCPU));
  EXPECT_EQ(reducer.before_backward(1.0), 1.0);
  const at::Tensor loss = model_->forward(torch::ones({4, 64})).square().mean();
  const bool is_last = comm_->rank() == comm_->size() - 1;
  (is_last ? loss * std::numeric_limits<double>::quiet_NaN() : loss).backward();
  EXPECT_FALSE(reducer.after_backward()->finite);
}

TEST_P(OverlapTest, DividesByTheLossScaleBeforeClipping) {
  GradientReducerOptions options = small_buckets();
  options.clip_norm = 0.01;
  for (const bool overlap : {false, true}) {
    double norm = 0.0;
    for (const double scale : {1.0, 1024.0}) {
      GradientReducer reducer(*comm_, *gradients_, options,
                              overlap ? make_side_stream(at::kCPU) : nullptr);
      gradients_->zero();
      const double factor = reducer.before_backward(1.0, scale);
      EXPECT_EQ(factor, scale);
      (model_->forward(torch::ones({4, 64})).square().mean() * factor).backward();
      const auto result = reducer.after_backward();
      // A power of two changes no bit of a gradient that is far from the limits of float's range.
      if (scale == 1.0) norm = result->grad_norm;
      EXPECT_EQ(result->grad_norm, norm);
      EXPECT_LT(result->clip_factor, 1.0);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Backends, OverlapTest, ::testing::ValuesIn(mpi_backends()), backend_name);

}  // namespace
}  // namespace traffic::comm
