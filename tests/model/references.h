/// Independent references in plain ATen operations, one graph node or one time step at a time, and
/// helpers to compare with them.
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

/// Packed graphs of these numbers of nodes. A quarter of the nodes has no incoming edges; the
/// others have up to 12 from other nodes of their graph.
GraphBatch random_graphs(const std::vector<std::int64_t>& sizes, std::int64_t node_features,
                         std::uint64_t seed);
/// Nodes [first, last) of a packed graph, which no edge connects with other nodes.
GraphBatch part_of(const GraphBatch& graph, std::int64_t first, std::int64_t last);
GraphBatch without_edges(const GraphBatch& graph);

/// Attention node by node, in the type of qkv.
torch::Tensor attention_by_node(const torch::Tensor& qkv, const GraphBatch& graph,
                                const EdgeParameters& parameters, std::int64_t heads);
/// One layer; `p` maps the parameter names of EncoderLayerImpl to values.
torch::Tensor layer_by_node(const torch::Tensor& x, const GraphBatch& graph, const NamedTensors& p,
                            const std::string& prefix, std::int64_t heads);
/// The whole encoder; `p` maps the parameter names of GraphEncoderImpl to values.
torch::Tensor encoder_by_node(const GraphBatch& graph, const NamedTensors& p, std::int64_t layers,
                              std::int64_t heads);
/// Output of the last layer at the last step, computed by at::lstm_cell step by step. Absent
/// vehicles are set to zero. `p` maps the parameter names of torch::nn::LSTM to values.
torch::Tensor lstm_by_step(const torch::Tensor& x, const torch::Tensor& present,
                           const NamedTensors& p, std::int64_t layers);

/// Differentiable copies of a module's parameters in double.
NamedTensors in_double(const torch::nn::Module& module);
/// Gradients by parameter name; parameters without a gradient are missing.
NamedTensors gradients_of(const torch::nn::Module& module);
void zero_gradients(torch::nn::Module& module);

/// Results of a forward and a backward pass, on the CPU.
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

/// Small, but with several heads, layers and panels.
config::Model small_model();
WorldModelTargets random_targets(std::int64_t vehicles, std::int64_t horizon, std::uint64_t seed);

/// Tolerance for float32 sums of up to a few thousand products, each rounded to 2^-24. The error
/// stays below about 2^-17 of the largest entry.
inline constexpr double kFloatTolerance = 1e-5;
/// Tolerance for gradients. They sum such errors over all nodes, so it is five times as large.
inline constexpr double kGradientTolerance = 5e-5;

}  // namespace traffic::model::testing
