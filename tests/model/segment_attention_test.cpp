#include "traffic/model/segment_attention.h"

#include <gtest/gtest.h>

#include <limits>

#include "attention_comparison.h"
#include "traffic/core/error.h"

namespace traffic::model {
namespace {

using namespace testing;  // NOLINT: the references beside this file
using torch::Tensor;

void expect_equals_reference(const GraphBatch& graph, AttentionHeads shape) {
  expect_equals_reference(graph, shape, [&](const Tensor& qkv, const EdgeParameters& p) {
    return segment_attention(qkv, graph, p, shape.heads);
  });
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
    const AttentionResult result = run(
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
