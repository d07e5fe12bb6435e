// Attention over the incoming edges of each node, in ATen operations.
#include "segment_attention.h"

#include <ATen/ATen.h>

#include <cmath>

#include "edge_index.h"

namespace traffic::model {

using at::Tensor;

at::Tensor segment_attention(const Tensor& qkv, const GraphBatch& graph,
                             const EdgeParameters& parameters, std::int64_t heads) {
  const std::int64_t nodes = qkv.size(0);
  const std::int64_t width = qkv.size(1) / 3;
  const std::int64_t head_dim = width / heads;
  const auto type = parameters.edge_weight.scalar_type();
  const auto parts = qkv.to(type).view({nodes, 3, heads, head_dim}).unbind(1);
  const Tensor q = parts[0] / std::sqrt(static_cast<double>(head_dim));
  const Tensor features = graph.edge_features.to(type);
  const Tensor src = graph.edge_src.to(at::kLong);
  const Tensor dst = edge_destinations(graph.edge_ptr, graph.num_edges());
  const Tensor hidden =
      at::relu(at::linear(features, parameters.risk_in_weight, parameters.risk_in_bias));
  const Tensor risk = at::linear(hidden, parameters.risk_out_weight, parameters.risk_out_bias);
  const Tensor shift = at::linear(features, parameters.edge_weight).view({-1, heads, head_dim});
  const auto by_node = [&](const Tensor& edges) {
    auto sizes = edges.sizes().vec();
    sizes[0] = nodes;
    return at::zeros(sizes, edges.options()).index_add(0, dst, edges);
  };
  const Tensor score =
      (q.index_select(0, dst) * (parts[1].index_select(0, src) + shift)).sum(-1) + risk;
  const Tensor highest =
      at::full({nodes, heads}, -1e30, score.options())
          .scatter_reduce(0, dst.unsqueeze(1).expand_as(score), score.detach(), "amax");
  const Tensor p = (score - highest.index_select(0, dst)).exp();
  const Tensor probability = p / by_node(p).index_select(0, dst);
  const Tensor value = parts[2].index_select(0, src) + shift;
  return by_node(probability.unsqueeze(-1) * value).view({nodes, width}).to(qkv.scalar_type());
}

}  // namespace traffic::model
