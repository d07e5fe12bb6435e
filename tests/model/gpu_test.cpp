/// On a GPU: the encoder and the LSTM beside the same modules on the CPU.
#include <gtest/gtest.h>

#include "references.h"
#include "traffic/model/graph_encoder.h"
#include "traffic/model/initialise.h"
#include "traffic/model/lstm.h"

namespace traffic::model {
namespace {

using namespace testing;  // NOLINT: the references beside this file
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
    if (name.ends_with("risk_out.bias")) continue;  // zero but for rounding
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
  // Operands rounded to 11 bits, 2^-12 each, some twenty of them in the way of a gradient.
  expect_close(run(gpu_, on_gpu(graph_), cotangent_.to(kGpu)), exact, 0.01);
}

TEST(LstmOnGpu, EqualsTheCpu) {
  Lstm cpu(LstmOptions{64, 64, 2});
  Lstm gpu(LstmOptions{64, 64, 2});
  initialise(*cpu, 5);
  initialise(*gpu, 5);
  gpu->to(kGpu);
  torch::manual_seed(2);
  const Tensor x = torch::randn({6, 50, 64});
  const Tensor present = torch::rand({6, 50}) < 0.7;
  const Tensor expected = cpu->forward(x, present);
  const Tensor actual = gpu->forward(x.to(kGpu), present.to(kGpu));
  EXPECT_LT(difference(actual.cpu(), expected.to(torch::kDouble)), kFloatTolerance);
}

}  // namespace
}  // namespace traffic::model
