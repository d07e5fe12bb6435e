#include "traffic/model/segment_attention.h"

#include <gtest/gtest.h>

#include <limits>

#include "references.h"
#include "traffic/core/error.h"

namespace traffic::model {
namespace {

using namespace testing;  // NOLINT: the references beside this file
using torch::Tensor;

struct AttentionHeads {
  std::int64_t heads;
  std::int64_t channels;
};

EdgeParameters random_parameters(std::int64_t width, std::int64_t heads) {
  return {torch::randn({width, 4}) * 0.3, torch::randn({32, 4}) * 0.5, torch::randn({32}) * 0.5,
          torch::randn({heads, 32}) * 0.3, torch::randn({heads}) * 0.3};
}

/// Inputs of the operation that are differentiated, and their gradients for a random cotangent.
struct Result {
  Tensor out;
  std::vector<Tensor> gradients;
};

template <typename Operation>
Result run(const Operation& operation, const Tensor& qkv, const EdgeParameters& p,
           const Tensor& cotangent, at::ScalarType type) {
  std::vector<Tensor> inputs;
  for (const Tensor& t :
       {qkv, p.edge_weight, p.risk_in_weight, p.risk_in_bias, p.risk_out_weight, p.risk_out_bias}) {
    inputs.push_back(t.detach().to(type).clone().requires_grad_(true));
  }
  const Tensor out =
      operation(inputs[0], EdgeParameters{inputs[1], inputs[2], inputs[3], inputs[4], inputs[5]});
  (out * cotangent.to(type)).sum().backward();
  Result result{out.detach(), {}};
  for (const Tensor& t : inputs) {
    result.gradients.push_back(t.grad().defined() ? t.grad() : torch::zeros_like(t));
  }
  return result;
}

void expect_equals_reference(const GraphBatch& graph, AttentionHeads shape) {
  const std::int64_t width = shape.heads * shape.channels;
  const EdgeParameters p = random_parameters(width, shape.heads);
  const Tensor qkv = torch::randn({graph.num_nodes(), 3 * width});
  const Tensor cotangent = torch::randn({graph.num_nodes(), width});
  const Result fused =
      run([&](const Tensor& in,
              const EdgeParameters& e) { return segment_attention(in, graph, e, shape.heads); },
          qkv, p, cotangent, torch::kFloat);
  const Result expected =
      run([&](const Tensor& in,
              const EdgeParameters& e) { return attention_by_node(in, graph, e, shape.heads); },
          qkv, p, cotangent, torch::kDouble);
  EXPECT_LT(difference(fused.out, expected.out), kFloatTolerance);
  const char* names[] = {"qkv",          "edge_weight",     "risk_in_weight",
                         "risk_in_bias", "risk_out_weight", "risk_out_bias"};
  for (std::size_t i = 0; i < expected.gradients.size(); ++i) {
    // The gradient of risk_out_bias is zero in exact arithmetic (a softmax does not see a constant)
    // and small in float: it is compared with the size of the gradient of the weights beside it.
    const double scale = i == 5 ? expected.gradients[4].abs().max().item<double>()
                                : expected.gradients[i].abs().max().item<double>();
    const double error =
        (fused.gradients[i].to(torch::kDouble) - expected.gradients[i]).abs().max().item<double>();
    EXPECT_LE(error, kGradientTolerance * scale) << names[i];
  }
}

class SegmentAttention : public ::testing::TestWithParam<AttentionHeads> {};

TEST_P(SegmentAttention, OfPackedGraphsEqualsTheReferenceForwardAndBackward) {
  expect_equals_reference(random_graphs({1, 40, 7, 150, 3, 2}, 9, 5), GetParam());
}
TEST_P(SegmentAttention, OfOneNodeOrNoEdgesIsZeroAndGivesNoGradient) {
  const GraphBatch graphs[] = {random_graphs({1}, 9, 1), without_edges(random_graphs({20}, 9, 2))};
  for (const GraphBatch& graph : graphs) {
    ASSERT_EQ(graph.num_edges(), 0);
    const std::int64_t width = GetParam().heads * GetParam().channels;
    const EdgeParameters p = random_parameters(width, GetParam().heads);
    const Result result = run(
        [&](const Tensor& in, const EdgeParameters& e) {
          return segment_attention(in, graph, e, GetParam().heads);
        },
        torch::randn({graph.num_nodes(), 3 * width}), p, torch::ones({graph.num_nodes(), width}),
        torch::kFloat);
    EXPECT_EQ(result.out.abs().max().item<float>(), 0.0F);
    for (const Tensor& g : result.gradients) EXPECT_EQ(g.abs().max().item<float>(), 0.0F);
  }
}
TEST_P(SegmentAttention, StaysFiniteWithVeryLargeScores) {
  const GraphBatch graph = random_graphs({30}, 9, 3);
  const std::int64_t width = GetParam().heads * GetParam().channels;
  const Tensor qkv = torch::randn({30, 3 * width}) * 1e4;
  const Tensor out =
      segment_attention(qkv, graph, random_parameters(width, GetParam().heads), GetParam().heads);
  EXPECT_TRUE(out.isfinite().all().item<bool>());
}
// The sizes of the presets, whose loops the compiler knows, others up to the 16 heads of the fused
// operation, and one that it does not take.
INSTANTIATE_TEST_SUITE_P(Sizes, SegmentAttention,
                         ::testing::Values(AttentionHeads{8, 32}, AttentionHeads{4, 16},
                                           AttentionHeads{3, 16}, AttentionHeads{1, 48},
                                           AttentionHeads{2, 64}, AttentionHeads{11, 32},
                                           AttentionHeads{16, 16}, AttentionHeads{2, 10}),
                         [](const auto& test) {
                           return std::to_string(test.param.heads) + "heads" +
                                  std::to_string(test.param.channels) + "channels";
                         });

TEST(SegmentAttentionReference, IsTheOperationInDouble) {
  const GraphBatch graph = random_graphs({20, 1, 30}, 9, 8);
  EdgeParameters p = random_parameters(64, 4);
  for (Tensor* t :
       {&p.edge_weight, &p.risk_in_weight, &p.risk_in_bias, &p.risk_out_weight, &p.risk_out_bias}) {
    *t = t->to(torch::kDouble);
  }
  const Tensor qkv = torch::randn({51, 192}, torch::kDouble);
  // Both in double; only the order of sums differs.
  EXPECT_LT(difference(segment_attention_reference(qkv, graph, p, 4),
                       attention_by_node(qkv, graph, p, 4)),
            1e-12);
}

TEST(SegmentAttentionArguments, RefusesWhatDoesNotFit) {
  const GraphBatch good = random_graphs({20}, 9, 4);
  const EdgeParameters p = random_parameters(64, 4);
  const Tensor qkv = torch::randn({20, 192});
  EXPECT_THROW(segment_attention(qkv.slice(0, 1), good, p, 4), ShapeError);
  EXPECT_THROW(segment_attention(qkv.slice(1, 1), good, p, 4), ShapeError);
  EXPECT_THROW(segment_attention(qkv, good, p, 3), ShapeError);
  EXPECT_THROW(segment_attention(qkv, good, random_parameters(32, 4), 4), ShapeError);
  GraphBatch bad = good;
  bad.edge_src = good.edge_src.clone();
  bad.edge_src[2] = 20;
  EXPECT_THROW(segment_attention(qkv, bad, p, 4), ShapeError);
  bad.edge_src[2] = -1;
  EXPECT_THROW(segment_attention(qkv, bad, p, 4), ShapeError);
  bad = good;
  bad.edge_ptr = good.edge_ptr.flip(0).contiguous();
  EXPECT_THROW(segment_attention(qkv, bad, p, 4), ShapeError);
  bad = good;
  bad.edge_features = good.edge_features.slice(0, 1);
  EXPECT_THROW(segment_attention(qkv, bad, p, 4), ShapeError);
  bad = good;
  bad.edge_src = good.edge_src.to(torch::kLong);
  EXPECT_THROW(segment_attention(qkv, bad, p, 4), ShapeError);
}

}  // namespace
}  // namespace traffic::model
