#include "traffic/model/graph_encoder.h"

#include <ATen/Parallel.h>
#include <gtest/gtest.h>

#include "model/gemm.h"
#include "references.h"
#include "traffic/core/error.h"
#include "traffic/model/initialise.h"

namespace traffic::model {
namespace {

using namespace testing;  // NOLINT: the references in this folder
using torch::Tensor;

struct Sizes {
  std::int64_t hidden;
  std::int64_t layers;
  std::int64_t heads;
};

config::Model config_of(Sizes sizes) {
  config::Model model;
  model.hidden_dim = sizes.hidden;
  model.gnn_layers = sizes.layers;
  model.num_heads = sizes.heads;
  return model;
}

GraphEncoder make_encoder(const config::Model& model, std::uint64_t seed = 3,
                          std::int64_t features = 9) {
  GraphEncoder encoder(model, features);
  initialise(*encoder, seed);
  // Makes biases differ from zero and scales of norms from one.
  torch::manual_seed(seed);
  const torch::NoGradGuard no_grad;
  for (auto& p : encoder->parameters()) {
    if (p.dim() == 1) p.add_(0.1 * torch::randn_like(p));
  }
  return encoder;
}

/// Several groups and chunks of the fused passes, with odd sizes, single nodes and one large graph.
GraphBatch mixed_graphs() { return random_graphs({16, 1, 33, 7, 301, 2, 16, 64, 129, 15}, 9, 11); }

void expect_same_bits(const EncoderPasses& a, const EncoderPasses& b) {
  EXPECT_TRUE(same_bits(a.out, b.out));
  for (const auto& [name, gradient] : a.gradients) {
    EXPECT_TRUE(same_bits(gradient, b.gradients.at(name))) << name;
  }
}

class GraphEncoderOfSize : public ::testing::TestWithParam<Sizes> {};

TEST_P(GraphEncoderOfSize, EqualsTheReferenceForwardAndInAllGradients) {
  const Sizes sizes = GetParam();
  GraphEncoder encoder = make_encoder(config_of(sizes));
  const GraphBatch graph = mixed_graphs();
  const Tensor cotangent = torch::randn({graph.num_nodes(), sizes.hidden});
  const EncoderPasses fused = run(encoder, graph, cotangent);
  const NamedTensors p = in_double(*encoder);
  const Tensor expected = encoder_by_node(graph, p, sizes.layers, sizes.heads);
  (expected * cotangent.to(torch::kDouble)).sum().backward();
  EXPECT_LT(difference(fused.out, expected), kFloatTolerance);
  ASSERT_EQ(fused.gradients.size(), p.size());
  for (const auto& [name, parameter] : p) {
    // This gradient is zero in exact arithmetic, because a softmax is invariant to a constant.
    if (name.ends_with("risk_out.bias")) continue;
    EXPECT_LT(difference(fused.gradients.at(name), parameter.grad()), kGradientTolerance) << name;
  }
}
INSTANTIATE_TEST_SUITE_P(Sizes, GraphEncoderOfSize,
                         ::testing::Values(Sizes{64, 2, 4}, Sizes{256, 1, 8}, Sizes{96, 2, 3},
                                           Sizes{48, 2, 1}, Sizes{256, 2, 16}, Sizes{32, 1, 2},
                                           Sizes{128, 1, 2}, Sizes{352, 1, 11}, Sizes{40, 2, 4},
                                           Sizes{16, 2, 1}),
                         [](const auto& test) {
                           return "d" + std::to_string(test.param.hidden) + "layers" +
                                  std::to_string(test.param.layers) + "heads" +
                                  std::to_string(test.param.heads);
                         });

TEST(GraphEncoder, APackedGraphIsEncodedAsIfItWereAlone) {
  GraphEncoder encoder = make_encoder(small_model());
  const std::vector<std::int64_t> sizes{5, 1, 140, 17, 40};
  const GraphBatch packed = random_graphs(sizes, 9, 21);
  const torch::NoGradGuard no_grad;
  const Tensor together = encoder->forward(packed);
  std::int64_t first = 0;
  for (const std::int64_t size : sizes) {
    const Tensor alone = encoder->forward(part_of(packed, first, first + size));
    // A graph alone is divided into other blocks, so other kernels run and sum in another order.
    EXPECT_LT(difference(together.slice(0, first, first + size), alone.to(torch::kDouble)),
              kFloatTolerance);
    first += size;
  }
}

TEST(GraphEncoder, APermutationOfTheNodesPermutesTheEncodings) {
  GraphEncoder encoder = make_encoder(small_model());
  const GraphBatch graph = random_graphs({60}, 9, 22);
  const Tensor order = torch::randperm(60);  // node order[i] becomes node i
  const Tensor place = order.argsort();
  std::vector<std::int32_t> ptr{0};
  std::vector<Tensor> src;
  std::vector<Tensor> features;
  for (std::int64_t i = 0; i < 60; ++i) {
    const auto old = order[i].item<std::int64_t>();
    const auto first = graph.edge_ptr[old].item<std::int64_t>();
    const auto last = graph.edge_ptr[old + 1].item<std::int64_t>();
    // Also reverses the order of the incoming edges.
    src.push_back(place.index({graph.edge_src.slice(0, first, last).to(torch::kLong)}).flip(0));
    features.push_back(graph.edge_features.slice(0, first, last).flip(0));
    ptr.push_back(ptr.back() + static_cast<std::int32_t>(last - first));
  }
  const GraphBatch permuted{graph.node_features.index({order}), torch::tensor(ptr, torch::kInt),
                            torch::cat(src).to(torch::kInt), torch::cat(features)};
  const torch::NoGradGuard no_grad;
  EXPECT_LT(difference(encoder->forward(permuted),
                       encoder->forward(graph).index({order}).to(torch::kDouble)),
            kFloatTolerance);
}

TEST(GraphEncoder, IgnoredFeaturesHaveNoEffectAndKeepZeroWeights) {
  GraphEncoder encoder = make_encoder(config_of({64, 2, 4}));
  encoder->ignore_features({2, 5}, {1});
  const GraphBatch graph = mixed_graphs();
  GraphBatch without = graph;
  without.node_features = graph.node_features.clone();
  without.edge_features = graph.edge_features.clone();
  for (const std::int64_t column : {2, 5}) without.node_features.select(1, column).zero_();
  without.edge_features.select(1, 1).zero_();
  const Tensor out = encoder->forward(without);
  EXPECT_TRUE(torch::equal(encoder->forward(graph), out));
  out.square().sum().backward();
  for (const auto& item : encoder->named_parameters()) {
    const Tensor gradient = item.value().grad();
    if (item.key() == "input.weight") {
      EXPECT_TRUE(gradient.select(1, 2).eq(0).all().item<bool>());
      EXPECT_FALSE(gradient.select(1, 3).eq(0).all().item<bool>());
    } else if (item.key().ends_with("edge.weight") || item.key().ends_with("risk_in.weight")) {
      EXPECT_TRUE(gradient.select(1, 1).eq(0).all().item<bool>()) << item.key();
    }
  }
}

TEST(GraphEncoder, AcceptsGraphsWithoutNodesOrEdges) {
  GraphEncoder encoder = make_encoder(small_model());
  const GraphBatch empty = random_graphs({}, 9, 1);
  const EncoderPasses nothing = run(encoder, empty, torch::zeros({0, 96}));
  EXPECT_EQ(nothing.out.sizes(), torch::IntArrayRef({0, 96}));
  for (const auto& [name, g] : nothing.gradients)
    EXPECT_EQ(g.abs().max().item<float>(), 0.0F) << name;
  const GraphBatch apart = without_edges(random_graphs({20}, 9, 2));
  const EncoderPasses alone = run(encoder, apart, torch::ones({20, 96}));
  EXPECT_LT(difference(alone.out, encoder_by_node(apart, in_double(*encoder), 2, 3)),
            kFloatTolerance);
}

TEST_P(GraphEncoderOfSize, RepeatsToTheBitWithAnyNumberOfThreads) {
  GraphEncoder encoder = make_encoder(config_of(GetParam()));
  const GraphBatch graph = mixed_graphs();
  const Tensor cotangent = torch::randn({graph.num_nodes(), GetParam().hidden});
  const int before = at::get_num_threads();
  for (const auto type : {torch::kFloat, torch::kBFloat16}) {
    encoder->set_compute_type(type);
    at::set_num_threads(1);
    const EncoderPasses first = run(encoder, graph, cotangent);
    expect_same_bits(run(encoder, graph, cotangent), first);
    // ATen does not guarantee equal bits for different numbers of threads. The encoder uses ATen
    // for everything with hidden_dim 40, for the input layer with hidden_dim 16, and for bfloat16
    // on a machine that cannot multiply in bfloat16.
    if (GetParam().hidden == 40 || GetParam().hidden == 16) continue;
    if (type == torch::kBFloat16 && !has_bf16_products()) continue;
    for (const int threads : {2, 3}) {
      at::set_num_threads(threads);
      expect_same_bits(run(encoder, graph, cotangent), first);
    }
  }
  at::set_num_threads(before);
}

TEST(GraphEncoder, GivesTheSameBitsWithCheckpointing) {
  struct Case {
    config::Model model;
    torch::ScalarType type;
  };
  const config::Model not_fused = config_of({40, 2, 4});
  const GraphBatch graph = mixed_graphs();
  for (const auto& [model, type] :
       {Case{small_model(), torch::kFloat}, Case{not_fused, torch::kFloat},
        Case{not_fused, torch::kHalf}}) {
    GraphEncoder encoder = make_encoder(model);
    encoder->set_compute_type(type);
    const Tensor cotangent = torch::randn({graph.num_nodes(), model.hidden_dim});
    const EncoderPasses kept = run(encoder, graph, cotangent);
    encoder->set_checkpointing(true);
    expect_same_bits(run(encoder, graph, cotangent), kept);
  }
}

TEST(GraphEncoder, HalfPrecisionIsCloseToFloat) {
  GraphEncoder encoder = make_encoder(small_model());
  const GraphBatch graph = mixed_graphs();
  const Tensor cotangent = torch::randn({graph.num_nodes(), 96});
  const EncoderPasses exact = run(encoder, graph, cotangent);
  encoder->set_compute_type(torch::kHalf);
  const EncoderPasses rounded = run(encoder, graph, cotangent);
  // The reason of the tolerances is that of Bf16StaysCloseToFloat below, with operands rounded to
  // 11 bits.
  EXPECT_LT(mean_difference(rounded.out, exact.out.to(torch::kDouble)), 0.002);
  for (const auto& [name, gradient] : exact.gradients) {
    if (name.ends_with("risk_out.bias")) continue;
    EXPECT_LT(mean_difference(rounded.gradients.at(name), gradient.to(torch::kDouble)), 0.01)
        << name;
  }
}

TEST(GraphEncoder, PackedForInferenceGivesTheBitsOfTheTrainingPath) {
  GraphEncoder encoder = make_encoder(small_model());
  const GraphBatch graph = mixed_graphs();
  for (const auto type : {torch::kFloat, torch::kBFloat16}) {
    encoder->set_compute_type(type);
    const Tensor training = encoder->forward(graph).detach();
    const torch::NoGradGuard no_grad;
    EXPECT_TRUE(same_bits(encoder->forward(graph), training));
    encoder->pack_for_inference();
    EXPECT_TRUE(same_bits(encoder->forward(graph), training));
    encoder->unpack();
  }
}

TEST(GraphEncoder, PackedWithManyFeaturesIsCloseToTheTrainingPath) {
  constexpr std::int64_t kFeatures = 50;  // too many for a thin input of 64 channels
  GraphEncoder encoder = make_encoder(config_of({64, 2, 4}), 3, kFeatures);
  const GraphBatch graph = random_graphs({16, 1, 33, 7, 301}, kFeatures, 11);
  const torch::NoGradGuard no_grad;
  const Tensor training = encoder->forward(graph);
  encoder->pack_for_inference();
  // The first product is summed in another order.
  EXPECT_LT(difference(encoder->forward(graph), training.to(torch::kDouble)), 1e-5);
}

TEST(GraphEncoder, Bf16StaysCloseToFloat) {
  GraphEncoder encoder = make_encoder(small_model());
  const GraphBatch graph = mixed_graphs();
  const Tensor cotangent = torch::randn({graph.num_nodes(), 96});
  const EncoderPasses exact = run(encoder, graph, cotangent);
  encoder->set_compute_type(torch::kBFloat16);
  const EncoderPasses rounded = run(encoder, graph, cotangent);
  EXPECT_FALSE(same_bits(rounded.out, exact.out));
  // Operands are rounded to 8 bits, an error of 2^-9 = 0.2 % each. An output depends on
  // about ten such independent roundings, a gradient on twice as many.
  EXPECT_LT(mean_difference(rounded.out, exact.out.to(torch::kDouble)), 0.01);
  for (const auto& [name, gradient] : exact.gradients) {
    if (name.ends_with("risk_out.bias")) continue;
    EXPECT_LT(mean_difference(rounded.gradients.at(name), gradient.to(torch::kDouble)), 0.03)
        << name;
  }
}

TEST(GraphEncoder, Bf16WithoutFusedKernelsStaysCloseToFloat) {
  GraphEncoder encoder = make_encoder(config_of({40, 2, 4}));
  const GraphBatch graph = mixed_graphs();
  const torch::NoGradGuard no_grad;
  const Tensor exact = encoder->forward(graph);
  encoder->set_compute_type(torch::kBFloat16);
  EXPECT_LT(mean_difference(encoder->forward(graph), exact.to(torch::kDouble)), 0.01);
}

TEST(GraphEncoder, StaysFiniteWithVeryLargeScores) {
  const GraphBatch graph = mixed_graphs();
  for (const Sizes sizes : {Sizes{96, 2, 3}, Sizes{40, 2, 4}}) {  // fused and not fused
    GraphEncoder encoder = make_encoder(config_of(sizes));
    {
      const torch::NoGradGuard no_grad;
      for (auto& item : encoder->named_parameters()) {
        if (item.key().ends_with("qkv.weight")) item.value().mul_(1e4);
      }
    }
    const EncoderPasses passes =
        run(encoder, graph, torch::ones({graph.num_nodes(), sizes.hidden}));
    EXPECT_TRUE(passes.out.isfinite().all().item<bool>());
    for (const auto& [name, g] : passes.gradients) {
      EXPECT_TRUE(g.isfinite().all().item<bool>()) << name;
    }
  }
}

TEST(GraphEncoder, RefusesGraphsWhoseTensorsContradictEachOther) {
  GraphEncoder encoder = make_encoder(small_model());
  const GraphBatch good = random_graphs({20}, 9, 4);
  GraphBatch bad = good;
  bad.edge_src = good.edge_src.clone();
  bad.edge_src[2] = 20;
  EXPECT_THROW(encoder->forward(bad), ShapeError);
  bad.edge_src[2] = -1;
  EXPECT_THROW(encoder->forward(bad), ShapeError);
  bad = good;
  bad.edge_ptr = good.edge_ptr.flip(0).contiguous();
  EXPECT_THROW(encoder->forward(bad), ShapeError);
  bad = good;
  bad.edge_features = good.edge_features.slice(0, 1);
  EXPECT_THROW(encoder->forward(bad), ShapeError);
  bad = good;
  bad.edge_src = good.edge_src.to(torch::kLong);
  EXPECT_THROW(encoder->forward(bad), ShapeError);
}

TEST(GraphEncoder, RefusesHeadsThatDoNotDivideTheWidth) {
  EXPECT_THROW(GraphEncoder(config_of({64, 2, 5}), 9), ShapeError);
}

}  // namespace
}  // namespace traffic::model
