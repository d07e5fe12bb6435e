#include "traffic/model/receptive_field.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "references.h"
#include "traffic/core/error.h"
#include "traffic/model/graph_encoder.h"
#include "traffic/model/initialise.h"

namespace traffic::model {
namespace {

using namespace testing;  // NOLINT: the references in this folder
using torch::Tensor;
using Nodes = std::vector<std::int64_t>;

constexpr std::int64_t kFeatures = 9;

/// Large graphs, in which some nodes are not reachable within two edges, and small ones.
GraphBatch sparse_graphs() {
  const GraphBatch dense = random_graphs({90, 1, 40, 200, 3, 150}, kFeatures, 5);
  const auto* ptr = dense.edge_ptr.const_data_ptr<std::int32_t>();
  Nodes kept;
  std::vector<std::int32_t> new_ptr{0};
  for (std::int64_t i = 0; i < dense.num_nodes(); ++i) {
    for (std::int64_t e = ptr[i]; e < ptr[i] + std::min(2, ptr[i + 1] - ptr[i]); ++e) {
      kept.push_back(e);
    }
    new_ptr.push_back(static_cast<std::int32_t>(kept.size()));
  }
  const Tensor rows = torch::tensor(kept);
  return {dense.node_features, torch::tensor(new_ptr, torch::kInt), dense.edge_src.index({rows}),
          dense.edge_features.index({rows})};
}

/// The nodes at each distance in edges from the chosen nodes, by a breadth-first search.
std::map<std::int64_t, std::set<std::int64_t>> nodes_by_distance(const GraphBatch& graph,
                                                                 const Nodes& chosen,
                                                                 std::int64_t hops) {
  std::map<std::int64_t, std::set<std::int64_t>> at;
  std::set<std::int64_t> seen(chosen.begin(), chosen.end());
  at[0] = seen;
  for (std::int64_t h = 1; h <= hops; ++h) {
    for (const std::int64_t node : at[h - 1]) {
      for (auto e = graph.edge_ptr[node].item<std::int64_t>();
           e < graph.edge_ptr[node + 1].item<std::int64_t>(); ++e) {
        const auto source = graph.edge_src[e].item<std::int64_t>();
        if (seen.insert(source).second) at[h].insert(source);
      }
    }
  }
  return at;
}

struct Case {
  std::int64_t hidden;
  std::int64_t layers;
  std::int64_t heads;
  torch::ScalarType type;
};

class EncodingsOfSomeNodes : public ::testing::TestWithParam<Case> {
 protected:
  GraphEncoder make_encoder() const {
    config::Model model;
    model.hidden_dim = GetParam().hidden;
    model.gnn_layers = GetParam().layers;
    model.num_heads = GetParam().heads;
    GraphEncoder encoder(model, kFeatures);
    initialise(*encoder, 3);
    encoder->set_compute_type(GetParam().type);
    return encoder;
  }
};

TEST_P(EncodingsOfSomeNodes, EqualTheirEncodingsInTheWholeGraph) {
  GraphEncoder encoder = make_encoder();
  const GraphBatch graph = sparse_graphs();
  Nodes every_fourth;
  Nodes all;
  for (std::int64_t i = 0; i < graph.num_nodes(); ++i) {
    all.push_back(i);
    if (i % 4 == 1) every_fourth.push_back(i);
  }
  for (const Nodes& chosen : {every_fourth, all, Nodes{17}, Nodes{90, 333}, Nodes{}}) {
    const ReceptiveField field = receptive_field(graph, chosen, GetParam().layers);
    for (const bool gradients : {true, false}) {
      const torch::AutoGradMode mode(gradients);
      const Tensor expected =
          encoder->forward(graph).index({torch::tensor(chosen, torch::kLong)}).detach();
      if (!gradients) encoder->pack_for_inference();
      const Tensor found = encoder->forward(field).detach();
      encoder->unpack();
      ASSERT_EQ(found.sizes(), expected.sizes());
      if (chosen.empty()) continue;
      // The field is divided into other blocks, so other kernels run and sum in another order.
      // Operands may then be rounded the other way.
      const double tolerance = GetParam().type == torch::kFloat ? kFloatTolerance : 0.05;
      EXPECT_LT(difference(found, expected.to(torch::kDouble)), tolerance)
          << chosen.size() << " nodes, gradients " << gradients;
    }
  }
}
INSTANTIATE_TEST_SUITE_P(
    Cases, EncodingsOfSomeNodes,
    ::testing::Values(Case{64, 2, 4, torch::kFloat}, Case{96, 3, 3, torch::kFloat},
                      Case{16, 1, 1, torch::kFloat}, Case{256, 2, 8, torch::kFloat},
                      Case{64, 2, 4, torch::kBFloat16}, Case{40, 2, 4, torch::kFloat}),
    [](const auto& test) {
      return "d" + std::to_string(test.param.hidden) + "layers" +
             std::to_string(test.param.layers) +
             (test.param.type == torch::kFloat ? "float" : "bf16");
    });

TEST(ReceptiveField, ContainsExactlyTheNodesWithinTheHops) {
  const GraphBatch graph = sparse_graphs();
  const Nodes chosen{3, 5, 90, 100, 130, 200, 331};
  for (const std::int64_t hops : {0, 1, 2, 3}) {
    const ReceptiveField field = receptive_field(graph, chosen, hops);
    const auto expected = nodes_by_distance(graph, chosen, hops);
    std::int64_t nodes = 0;
    std::int64_t edges = 0;
    for (const auto& [distance, at] : expected) {
      nodes += static_cast<std::int64_t>(at.size());
      if (distance == hops) continue;
      for (const std::int64_t node : at) {
        edges += (graph.edge_ptr[node + 1] - graph.edge_ptr[node]).item<std::int64_t>();
      }
    }
    EXPECT_EQ(field.graph.num_nodes(), nodes) << hops;
    EXPECT_EQ(field.graph.num_edges(), edges) << hops;
    EXPECT_LT(nodes, graph.num_nodes());
    check_graph(field.graph);
    EXPECT_TRUE(torch::equal(field.graph.node_features.index({field.chosen}),
                             graph.node_features.index({torch::tensor(chosen)})));
    ASSERT_EQ(field.end.size(), static_cast<std::size_t>(hops) + 1);
    std::int64_t within = 0;
    for (std::int64_t h = 0; h <= hops; ++h) {
      within += expected.contains(h) ? static_cast<std::int64_t>(expected.at(h).size()) : 0;
      std::int64_t counted = 0;
      for (std::size_t g = 0; g + 1 < field.group_ptr.size(); ++g) {
        counted += field.end[static_cast<std::size_t>(h)][g] - field.group_ptr[g];
      }
      EXPECT_EQ(counted, within) << hops << " hops, distance " << h;
    }
  }
}

TEST(ReceptiveField, RefusesUnsortedNodesAndOtherNumbersOfHops) {
  const GraphBatch graph = sparse_graphs();
  EXPECT_THROW(receptive_field(graph, Nodes{5, 3}, 2), Error);
  EXPECT_THROW(receptive_field(graph, Nodes{3, 3}, 2), Error);
  config::Model model;
  model.hidden_dim = 32;
  model.gnn_layers = 2;
  model.num_heads = 2;
  GraphEncoder encoder(model, kFeatures);
  EXPECT_THROW(encoder->forward(receptive_field(graph, Nodes{3}, 1)), Error);
}

}  // namespace
}  // namespace traffic::model
