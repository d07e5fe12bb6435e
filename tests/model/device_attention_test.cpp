/// The GPU kernels of attention, emulated on the CPU, and the code that calls them.
#include "model/device/device_attention.h"

#include <gtest/gtest.h>

#include "attention_comparison.h"
#include "model/edge_index.h"
#include "warp_emulation.h"

namespace traffic::model {
namespace {

using namespace testing;  // NOLINT: the references in this folder
using torch::Tensor;

Tensor emulated(const Tensor& qkv, const GraphBatch& graph, const EdgeParameters& p,
                std::int64_t heads) {
  static const EmulatedAttention kernels;
  const bool by_source = torch::GradMode::is_enabled();
  return device::device_attention(qkv, device::make_device_edges(graph, by_source), p, heads,
                                  kernels);
}

class DeviceAttention : public ::testing::TestWithParam<AttentionHeads> {
 protected:
  static void expect_equal_on(const GraphBatch& graph) {
    const AttentionHeads shape = GetParam();
    expect_equals_reference(graph, shape, [&](const Tensor& qkv, const EdgeParameters& p) {
      return emulated(qkv, graph, p, shape.heads);
    });
  }
};

TEST_P(DeviceAttention, EqualsTheReferenceForwardAndBackward) {
  expect_equal_on(random_graphs({1, 20, 7, 2}, 9, 5));
}

TEST_P(DeviceAttention, IsZeroWithoutGradientIfThereAreNoEdges) {
  const AttentionHeads shape = GetParam();
  const std::int64_t width = shape.heads * shape.channels;
  const GraphBatch graphs[] = {random_graphs({1}, 9, 1), without_edges(random_graphs({9}, 9, 2))};
  for (const GraphBatch& graph : graphs) {
    const AttentionResult result =
        run([&](const Tensor& in,
                const EdgeParameters& e) { return emulated(in, graph, e, shape.heads); },
            torch::randn({graph.num_nodes(), 3 * width}), random_parameters(width, shape.heads),
            torch::ones({graph.num_nodes(), width}), torch::kFloat);
    EXPECT_EQ(result.out.abs().max().item<float>(), 0.0F);
    for (const Tensor& g : result.gradients) EXPECT_EQ(g.abs().max().item<float>(), 0.0F);
  }
}

// Heads with fewer channels than lanes, with as many, with several per lane, and with a number that
// is no multiple of the lanes.
INSTANTIATE_TEST_SUITE_P(Sizes, DeviceAttention,
                         ::testing::Values(AttentionHeads{2, 16}, AttentionHeads{3, 32},
                                           AttentionHeads{1, 128}, AttentionHeads{2, 20}),
                         [](const auto& test) {
                           return std::to_string(test.param.heads) + "x" +
                                  std::to_string(test.param.channels);
                         });

TEST(DeviceAttention, RepeatsToTheBitAndIsTheSameWithoutGradients) {
  const GraphBatch graph = random_graphs({25, 5}, 9, 3);
  torch::manual_seed(4);
  const EdgeParameters p = random_parameters(64, 2);
  const Tensor qkv = torch::randn({30, 192}).requires_grad_(true);
  const Tensor out = emulated(qkv, graph, p, 2);
  out.square().sum().backward();
  const Tensor gradient = qkv.grad().clone();
  qkv.mutable_grad().reset();
  emulated(qkv, graph, p, 2).square().sum().backward();
  EXPECT_TRUE(same_bits(qkv.grad(), gradient));
  const torch::NoGradGuard no_grad;
  EXPECT_TRUE(same_bits(emulated(qkv, graph, p, 2), out));
}

TEST(DeviceAttention, HalfPrecisionEqualsFloatOfTheRoundedInputs) {
  const GraphBatch graph = random_graphs({12}, 9, 3);
  torch::manual_seed(5);
  const EdgeParameters p = random_parameters(32, 2);
  const Tensor half = torch::randn({12, 96}).to(torch::kHalf);
  const Tensor out = emulated(half, graph, p, 2);
  EXPECT_EQ(out.scalar_type(), torch::kHalf);
  EXPECT_TRUE(same_bits(out, emulated(half.to(torch::kFloat), graph, p, 2).to(torch::kHalf)));
}

TEST(DeviceAttention, SumsGradientsOfManyNodesInParts) {
  const GraphBatch graph = random_graphs({500, 600}, 9, 7);
  expect_equals_reference(graph, {2, 20}, [&](const Tensor& qkv, const EdgeParameters& p) {
    return emulated(qkv, graph, p, 2);
  });
}

TEST(DeviceEdges, EdgesBySourceEqualThoseOfTheCpu) {
  const GraphBatch graph = random_graphs({30, 1, 12}, 9, 6);
  const EdgeIndex cpu = make_edge_index(graph, true);
  const device::DeviceEdges edges = device::make_device_edges(graph, true);
  EXPECT_TRUE(torch::equal(edges.edge_dst, cpu.edge_dst));
  EXPECT_TRUE(torch::equal(edges.out_ptr, cpu.out_ptr));
  EXPECT_TRUE(torch::equal(edges.out_edge, cpu.out_edge));
}

TEST(DeviceAttention, FitsHeadsThatDivideTheWidthAndFitIntoTheLanes) {
  EXPECT_TRUE(device::device_attention_fits(256, 8));
  EXPECT_TRUE(device::device_attention_fits(128, 1));
  EXPECT_FALSE(device::device_attention_fits(256, 1));
  EXPECT_FALSE(device::device_attention_fits(64, 5));
}

}  // namespace
}  // namespace traffic::model
