#include "traffic/model/segment_attention.h"

#include <torch/csrc/autograd/custom_function.h>
#include <torch/types.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "attention_arguments.h"
#include "buffer_pool.h"
#include "encoder_layer.h"
#include "traffic/core/error.h"

namespace traffic::model {
namespace {

using at::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

/// Kept between the passes; edges are not differentiated.
struct AttentionTape : torch::CustomClassHolder {
  EdgeIndex index;
  Tensor probability;
  std::int64_t heads = 0;
};

Tensor fused_forward(const Tensor& qkv, const EdgeParameters& parameters, AttentionTape& tape) {
  const std::int64_t width = qkv.size(1) / 3;
  Tensor out = at::empty({qkv.size(0), width}, qkv.options());
  tape.probability = at::empty({tape.index.num_edges(), tape.heads}, at::kFloat);
  const PackedEdgeParameters packed(parameters, tape.heads);
  const kernels::AttentionEdges edges = packed.with(tape.index);
  const auto& groups = tape.index.group_ptr;
  at::parallel_for(0, tape.index.num_groups(), 1, [&](std::int64_t first, std::int64_t last) {
    Scratch scratch;
    const std::int64_t begin = groups[static_cast<std::size_t>(first)];
    const std::int64_t end = groups[static_cast<std::size_t>(last)];
    const auto* ptr = edges.edge_ptr;
    kernels::float_table().attention(
        {edges, 0, data<float>(qkv), data<float>(out), data<float>(tape.probability)}, begin, end,
        scratch.take<float>((ptr[end] - ptr[begin]) * kernels::kMaxHeads));
  });
  return out;
}

EdgeParameters fused_backward(const Tensor& qkv, const EdgeParameters& parameters,
                              const AttentionTape& tape, const Tensor& grad_out,
                              const Tensor& grad_qkv) {
  const PackedEdgeParameters packed(parameters, tape.heads);
  const kernels::AttentionBackward args{
      .edges = packed.with(tape.index),
      .base = 0,
      .qkv = data<float>(qkv),
      .grad_out = data<float>(grad_out),
      .grad_qkv = data<float>(grad_qkv),
      .probability = data<float>(tape.probability),
      .out_ptr = tape.index.out_ptr.const_data_ptr<std::int32_t>(),
      .out_edge = tape.index.out_edge.const_data_ptr<std::int32_t>(),
      .edge_dst = tape.index.edge_dst.const_data_ptr<std::int32_t>()};
  const AttentionGradients gradients(tape.index.num_groups(), qkv.size(1) / 3, tape.heads);
  at::parallel_for(0, tape.index.num_groups(), 1, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t g = first; g < last; ++g) attention_backward(args, tape.index, g, gradients);
  });
  return gradients.total();
}

class SegmentAttention : public torch::autograd::Function<SegmentAttention> {
 public:
  static Tensor forward(AutogradContext* ctx, const Tensor& qkv, const Tensor& edge_weight,
                        const Tensor& risk_in_weight, const Tensor& risk_in_bias,
                        const Tensor& risk_out_weight, const Tensor& risk_out_bias,
                        const GraphBatch& graph, std::int64_t heads) {
    auto tape = c10::make_intrusive<AttentionTape>();
    tape->index = make_edge_index(graph, true);
    tape->heads = heads;
    ctx->save_for_backward(
        {qkv, edge_weight, risk_in_weight, risk_in_bias, risk_out_weight, risk_out_bias});
    ctx->saved_data["tape"] = at::IValue::make_capsule(tape);
    return fused_forward(
        qkv, {edge_weight, risk_in_weight, risk_in_bias, risk_out_weight, risk_out_bias}, *tape);
  }

  static variable_list backward(AutogradContext* ctx, const variable_list& grads) {
    const auto saved = ctx->get_saved_variables();
    const auto tape =
        c10::static_intrusive_pointer_cast<AttentionTape>(ctx->saved_data["tape"].toCapsule());
    Tensor grad_qkv = at::empty_like(saved[0]);
    const EdgeParameters g =
        fused_backward(saved[0], {saved[1], saved[2], saved[3], saved[4], saved[5]}, *tape,
                       grads[0].contiguous(), grad_qkv);
    return {grad_qkv,          g.edge_weight,   g.risk_in_weight, g.risk_in_bias,
            g.risk_out_weight, g.risk_out_bias, Tensor(),         Tensor()};
  }
};

void check(const Tensor& qkv, const GraphBatch& graph, const EdgeParameters& parameters,
           std::int64_t heads) {
  check_graph(graph);
  const std::int64_t width = qkv.dim() == 2 ? qkv.size(1) / 3 : 0;
  if (qkv.dim() != 2 || qkv.size(0) != graph.num_nodes() || qkv.size(1) != 3 * width ||
      width % heads != 0) {
    throw ShapeError("qkv must be [{}, 3 d] with d a multiple of the {} heads", graph.num_nodes(),
                     heads);
  }
  const auto has = [](const Tensor& t, at::IntArrayRef sizes) { return t.sizes() == sizes; };
  if (!has(parameters.edge_weight, {width, 4}) ||
      !has(parameters.risk_in_weight, {kernels::kRiskHidden, 4}) ||
      !has(parameters.risk_in_bias, {kernels::kRiskHidden}) ||
      !has(parameters.risk_out_weight, {heads, kernels::kRiskHidden}) ||
      !has(parameters.risk_out_bias, {heads})) {
    throw ShapeError("parameters of the edges do not fit {} heads of {} channels in all", heads,
                     width);
  }
}

}  // namespace

at::Tensor segment_attention(const Tensor& qkv, const GraphBatch& graph,
                             const EdgeParameters& parameters, std::int64_t heads) {
  check(qkv, graph, parameters, heads);
  const bool fused = qkv.is_cpu() && qkv.scalar_type() == at::kFloat &&
                     fused_layer_fits(qkv.size(1) / 3, heads) &&
                     parameters.edge_weight.scalar_type() == at::kFloat;
  if (!fused) return segment_attention_reference(qkv, graph, parameters, heads);
  return SegmentAttention::apply(
      qkv.contiguous(), parameters.edge_weight, parameters.risk_in_weight, parameters.risk_in_bias,
      parameters.risk_out_weight, parameters.risk_out_bias, graph, heads);
}

at::Tensor segment_attention_reference(const Tensor& qkv, const GraphBatch& graph,
                                       const EdgeParameters& parameters, std::int64_t heads) {
  check(qkv, graph, parameters, heads);
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
