#include "model/segment_attention.h"

#include <gtest/gtest.h>

#include "attention_comparison.h"

namespace traffic::model {
namespace {

using namespace testing;  // NOLINT: the references in this folder
using torch::Tensor;

TEST(SegmentAttention, EqualsTheReferenceForwardAndBackward) {
  const GraphBatch graph = random_graphs({1, 40, 7, 150, 3, 2}, 9, 5);
  for (const AttentionHeads shape : {AttentionHeads{4, 16}, AttentionHeads{2, 10}}) {
    expect_equals_reference(graph, shape, [&](const Tensor& qkv, const EdgeParameters& p) {
      return segment_attention(qkv, graph, p, shape.heads);
    });
  }
}

TEST(SegmentAttention, IsZeroWithoutGradientIfThereAreNoEdges) {
  const GraphBatch graphs[] = {random_graphs({1}, 9, 1), without_edges(random_graphs({20}, 9, 2))};
  for (const GraphBatch& graph : graphs) {
    ASSERT_EQ(graph.num_edges(), 0);
    const AttentionResult result =
        run([&](const Tensor& in,
                const EdgeParameters& e) { return segment_attention(in, graph, e, 4); },
            torch::randn({graph.num_nodes(), 192}), random_parameters(64, 4),
            torch::ones({graph.num_nodes(), 64}), torch::kFloat);
    EXPECT_EQ(result.out.abs().max().item<float>(), 0.0F);
    for (const Tensor& g : result.gradients) EXPECT_EQ(g.abs().max().item<float>(), 0.0F);
  }
}

TEST(SegmentAttention, StaysFiniteWithVeryLargeScores) {
  const GraphBatch graph = random_graphs({30}, 9, 3);
  const Tensor out =
      segment_attention(torch::randn({30, 192}) * 1e4, graph, random_parameters(64, 4), 4);
  EXPECT_TRUE(out.isfinite().all().item<bool>());
}

TEST(SegmentAttention, InDoubleOnlyTheOrderOfSumsDiffers) {
  const GraphBatch graph = random_graphs({20, 1, 30}, 9, 8);
  EdgeParameters p = random_parameters(64, 4);
  for (Tensor* t :
       {&p.edge_weight, &p.risk_in_weight, &p.risk_in_bias, &p.risk_out_weight, &p.risk_out_bias}) {
    *t = t->to(torch::kDouble);
  }
  const Tensor qkv = torch::randn({51, 192}, torch::kDouble);
  EXPECT_LT(difference(segment_attention(qkv, graph, p, 4), attention_by_node(qkv, graph, p, 4)),
            1e-12);
}

}  // namespace
}  // namespace traffic::model
