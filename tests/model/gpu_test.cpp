/// Compares the encoder and the LSTM on a GPU with the same modules on the CPU.
#include <gtest/gtest.h>

#include "references.h"
#include "traffic/model/graph_encoder.h"
#include "traffic/model/initialise.h"
#include "traffic/model/lstm.h"

namespace traffic::model {
namespace {

using namespace testing;  // NOLINT: the references in this folder
using torch::Tensor;

const torch::Device kGpu(torch::kCUDA, 0);

GraphBatch on_gpu(const GraphBatch& graph) {
  return {.node_features = graph.node_features.to(kGpu),
          .edge_ptr = graph.edge_ptr.to(kGpu),
          .edge_src = graph.edge_src.to(kGpu),
          .edge_features = graph.edge_features.to(kGpu)};
}

GraphEncoder make_encoder() {
  GraphEncoder encoder(small_model(), 9);
  initialise(*encoder, 3);
  return encoder;
}

/// @param tolerance of gradients, relative in the Frobenius norm
void expect_close(const EncoderPasses& actual, const EncoderPasses& expected, double tolerance) {
  EXPECT_LT(mean_difference(actual.out, expected.out.to(torch::kDouble)), tolerance);
  for (const auto& [name, gradient] : expected.gradients) {
    if (name.ends_with("risk_out.bias")) continue;  // zero apart from rounding
    EXPECT_LT(mean_difference(actual.gradients.at(name), gradient.to(torch::kDouble)), tolerance)
        << name;
  }
}

class EncoderOnGpu : public ::testing::Test {
 protected:
  EncoderOnGpu() { gpu_->to(kGpu); }

  GraphBatch graph_ = random_graphs({40, 1, 60, 9}, 9, 1);
  Tensor cotangent_ = torch::randn({110, small_model().hidden_dim});
  GraphEncoder cpu_ = make_encoder();
  GraphEncoder gpu_ = make_encoder();
};

TEST_F(EncoderOnGpu, EqualsTheCpuForwardAndInAllGradients) {
  expect_close(run(gpu_, on_gpu(graph_), cotangent_.to(kGpu)), run(cpu_, graph_, cotangent_),
               kGradientTolerance);
}

TEST_F(EncoderOnGpu, RepeatsToTheBitAlsoWithCheckpointing) {
  const EncoderPasses first = run(gpu_, on_gpu(graph_), cotangent_.to(kGpu));
  for (const bool checkpointing : {false, true}) {
    gpu_->set_checkpointing(checkpointing);
    const EncoderPasses again = run(gpu_, on_gpu(graph_), cotangent_.to(kGpu));
    EXPECT_TRUE(same_bits(again.out, first.out));
    for (const auto& [name, gradient] : first.gradients) {
      EXPECT_TRUE(same_bits(again.gradients.at(name), gradient)) << name;
    }
  }
}

TEST_F(EncoderOnGpu, EncodesSomeNodesAsTheCpuDoes) {
  const std::vector<std::int64_t> chosen{2, 7, 40, 77, 101};
  const ReceptiveField field = receptive_field(graph_, chosen, cpu_->num_layers());
  const torch::NoGradGuard no_grad;
  EXPECT_LT(
      difference(gpu_->forward(field.to(kGpu)).cpu(), cpu_->forward(field).to(torch::kDouble)),
      kFloatTolerance);
}

TEST_F(EncoderOnGpu, InHalfPrecisionStaysCloseToFloat) {
  const EncoderPasses exact = run(cpu_, graph_, cotangent_);
  gpu_->set_compute_type(torch::kHalf);
  // Operands are rounded to 11 bits, with errors of 2^-12. A gradient passes through about twenty
  // such roundings.
  expect_close(run(gpu_, on_gpu(graph_), cotangent_.to(kGpu)), exact, 0.01);
}

struct LstmPasses {
  Tensor out;
  NamedTensors gradients;
};

class LstmOnGpu : public ::testing::Test {
 protected:
  LstmOnGpu() {
    initialise(*cpu_, 5);
    initialise(*gpu_, 5);
    gpu_->to(kGpu);
    torch::manual_seed(2);
    x_ = torch::randn({6, 50, 64});
    present_ = torch::rand({6, 50}) < 0.7;
    cotangent_ = torch::randn({50, 64});
  }
  [[nodiscard]] LstmPasses run_on(Lstm& lstm, torch::Device device) const {
    zero_gradients(*lstm);
    const Tensor out = lstm->forward(x_.to(device), present_.to(device));
    (out * cotangent_.to(device)).sum().backward();
    LstmPasses passes{out.detach().cpu(), {}};
    for (const auto& [name, gradient] : gradients_of(*lstm)) {
      passes.gradients[name] = gradient.cpu();
    }
    return passes;
  }

  Lstm cpu_{LstmOptions{64, 64, 2}};
  Lstm gpu_{LstmOptions{64, 64, 2}};
  Tensor x_, present_, cotangent_;
};

TEST_F(LstmOnGpu, EqualsTheCpuForwardAndInAllGradients) {
  const LstmPasses expected = run_on(cpu_, torch::kCPU);
  const LstmPasses actual = run_on(gpu_, kGpu);
  EXPECT_LT(difference(actual.out, expected.out.to(torch::kDouble)), kFloatTolerance);
  for (const auto& [name, gradient] : expected.gradients) {
    EXPECT_LT(mean_difference(actual.gradients.at(name), gradient.to(torch::kDouble)),
              kGradientTolerance)
        << name;
  }
}

TEST_F(LstmOnGpu, RepeatsToTheBitAlsoWithCheckpointing) {
  const LstmPasses first = run_on(gpu_, kGpu);
  for (const bool checkpointing : {false, true}) {
    gpu_->set_checkpointing(checkpointing);
    const LstmPasses again = run_on(gpu_, kGpu);
    EXPECT_TRUE(same_bits(again.out, first.out));
    for (const auto& [name, gradient] : first.gradients) {
      EXPECT_TRUE(same_bits(again.gradients.at(name), gradient)) << name;
    }
  }
}

TEST_F(LstmOnGpu, SingleStepsGiveTheResultsOfTheCpu) {
  const torch::NoGradGuard no_grad;
  LstmState state = gpu_->zero_state(50);
  Tensor last;
  for (std::int64_t t = 0; t < 6; ++t) last = gpu_->step(x_[t].to(kGpu), state);
  EXPECT_LT(difference(last.cpu(), cpu_->forward(x_).to(torch::kDouble)), kFloatTolerance);
}

TEST_F(LstmOnGpu, InHalfPrecisionStaysCloseToFloat) {
  const LstmPasses exact = run_on(cpu_, torch::kCPU);
  gpu_->set_compute_type(torch::kHalf);
  const LstmPasses half = run_on(gpu_, kGpu);
  EXPECT_LT(mean_difference(half.out, exact.out.to(torch::kDouble)), 0.01);
  for (const auto& [name, gradient] : exact.gradients) {
    EXPECT_LT(mean_difference(half.gradients.at(name), gradient.to(torch::kDouble)), 0.01) << name;
  }
}

}  // namespace
}  // namespace traffic::model
