/// Independent references in plain ATen operations, one graph node or one time step at a time, and
/// what the tests of this folder compare with them.
#pragma once

#include <torch/nn.h>
#include <torch/nn/module.h>
#include <torch/types.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "model/segment_attention.h"
#include "traffic/config/config.h"
#include "traffic/model/graph_batch.h"
#include "traffic/model/graph_encoder.h"
#include "traffic/model/loss.h"

namespace traffic::model::testing {

using NamedTensors = std::map<std::string, torch::Tensor>;

/// Graphs of these numbers of nodes, packed. A quarter of the nodes has no in-edges, the others up
/// to 12 from other nodes of their graph.
GraphBatch random_graphs(const std::vector<std::int64_t>& sizes, std::int64_t node_features,
                         std::uint64_t seed);
/// Nodes [first, last) of a packed graph, which no edge joins with others.
GraphBatch part_of(const GraphBatch& graph, std::int64_t first, std::int64_t last);
GraphBatch without_edges(const GraphBatch& graph);

/// Attention node by node, in the type of qkv.
torch::Tensor attention_by_node(const torch::Tensor& qkv, const GraphBatch& graph,
                                const EdgeParameters& parameters, std::int64_t heads);
/// One layer; parameters by their names in EncoderLayerImpl.
torch::Tensor layer_by_node(const torch::Tensor& x, const GraphBatch& graph, const NamedTensors& p,
                            const std::string& prefix, std::int64_t heads);
/// The whole encoder; parameters by their names in GraphEncoderImpl.
torch::Tensor encoder_by_node(const GraphBatch& graph, const NamedTensors& p, std::int64_t layers,
                              std::int64_t heads);
/// Output of the last layer at the last step; at::lstm_cell step by step, vehicles that are not
/// present set to zero. Parameters by their names in torch::nn::LSTM.
torch::Tensor lstm_by_step(const torch::Tensor& x, const torch::Tensor& present,
                           const NamedTensors& p, std::int64_t layers);

/// Copies of a module's parameters in double, to be differentiated.
NamedTensors in_double(const torch::nn::Module& module);
/// Gradients by name; a parameter without one is missing.
NamedTensors gradients_of(const torch::nn::Module& module);
void zero_gradients(torch::nn::Module& module);

/// What a forward and a backward pass give, on the CPU.
struct EncoderPasses {
  torch::Tensor out;
  NamedTensors gradients;
};
EncoderPasses run(GraphEncoder& encoder, const GraphBatch& graph, const torch::Tensor& cotangent);

/// Largest difference, relative to the largest entry of `expected`.
double difference(const torch::Tensor& actual, const torch::Tensor& expected);
/// |actual - expected| / |expected|, of Frobenius norms.
double mean_difference(const torch::Tensor& actual, const torch::Tensor& expected);
bool same_bits(const torch::Tensor& a, const torch::Tensor& b);

/// Small but with several heads, layers and panels.
config::Model small_model();
WorldModelTargets random_targets(std::int64_t vehicles, std::int64_t horizon, std::uint64_t seed);

/// float32 sums of up to a few thousand products, each rounded to 2^-24: the error stays under some
/// 2^-17 of the largest entry.
inline constexpr double kFloatTolerance = 1e-5;
/// Gradients are sums over all nodes of products of such errors: some times more.
inline constexpr double kGradientTolerance = 5e-5;

}  // namespace traffic::model::testing
