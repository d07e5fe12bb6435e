// Attention over the edges of a graph on GPUs, with its backward pass.
#include "device_attention.h"

#include <torch/csrc/autograd/custom_function.h>
#include <torch/types.h>
#include <torch/utils.h>

#include <cmath>
#include <utility>

#include "edge_index.h"
#include "kernels/kernels.h"

namespace traffic::model::device {
namespace {

using at::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

const std::int32_t* ints(const Tensor& t) { return t.const_data_ptr<std::int32_t>(); }
const float* floats(const Tensor& t) { return t.const_data_ptr<float>(); }
float* out_of(const Tensor& t) { return t.mutable_data_ptr<float>(); }

/// Data that the forward pass keeps for the backward pass. The edges have no gradients.
struct Tape : torch::CustomClassHolder {
  DeviceEdges edges;
  std::int64_t heads = 0;
  const AttentionKernels* kernels = nullptr;
  Tensor probability;  ///< [E, heads]
};

AttentionEdges edges_of(const Tape& tape, const Tensor& qkv, const Tensor& edge_weight) {
  const std::int64_t head_dim = qkv.size(1) / 3 / tape.heads;
  return {.edge_ptr = ints(tape.edges.edge_ptr),
          .edge_src = ints(tape.edges.edge_src),
          .edge_features = floats(tape.edges.edge_features),
          .qkv = floats(qkv),
          .edge_weight = floats(edge_weight),
          .nodes = static_cast<std::int32_t>(qkv.size(0)),
          .heads = static_cast<std::int32_t>(tape.heads),
          .head_dim = static_cast<std::int32_t>(head_dim),
          .scale = 1.0F / std::sqrt(static_cast<float>(head_dim))};
}

Tensor run_forward(const Tensor& qkv, const EdgeParameters& p, Tape& tape) {
  const Tensor out = at::empty({qkv.size(0), qkv.size(1) / 3}, qkv.options());
  tape.probability = at::empty({tape.edges.edge_src.size(0), tape.heads}, qkv.options());
  tape.kernels->forward({.in = edges_of(tape, qkv, p.edge_weight),
                         .risk_in_weight = floats(p.risk_in_weight),
                         .risk_in_bias = floats(p.risk_in_bias),
                         .risk_out_weight = floats(p.risk_out_weight),
                         .risk_out_bias = floats(p.risk_out_bias),
                         .out = out_of(out),
                         .probability = out_of(tape.probability)});
  return out;
}

/// Computes a^T b for each head, where a is the head's columns of `rows`. The result is small even
/// for many nodes. One product per head would therefore occupy only a few processors of the GPU. So
/// the function multiplies parts of 512 rows in parallel and adds the products.
/// @param rows [N, heads * head_dim]
/// @param b [heads, N, n]
/// @return [heads, head_dim, n]
Tensor tall_product(const Tensor& rows, const Tensor& b) {
  constexpr std::int64_t kRowsOfAPart = 512;
  const Tensor a = rows.unflatten(1, {b.size(0), -1});
  const std::int64_t num_parts = rows.size(0) / kRowsOfAPart;
  if (num_parts < 2) return at::bmm(a.permute({1, 2, 0}), b);
  const std::int64_t end = num_parts * kRowsOfAPart;
  const Tensor of_parts =
      at::matmul(a.narrow(0, 0, end).unflatten(0, {num_parts, kRowsOfAPart}).permute({2, 0, 3, 1}),
                 b.narrow(1, 0, end).unflatten(1, {num_parts, kRowsOfAPart}));
  return at::baddbmm(of_parts.sum(1), a.slice(0, end).permute({1, 2, 0}), b.slice(1, end));
}

struct Gradients {
  Tensor qkv;
  EdgeParameters parameters;
};

Gradients run_backward(const Tensor& qkv, const EdgeParameters& p, const Tape& tape,
                       const Tensor& grad_out) {
  const AttentionEdges in = edges_of(tape, qkv, p.edge_weight);
  const Tensor sums =
      at::empty({2, tape.heads, qkv.size(0), kernels::kEdgeFeatures}, qkv.options());
  const Tensor grad_score = at::empty_like(tape.probability);
  Gradients g{.qkv = at::empty_like(qkv), .parameters = {}};
  tape.kernels->backward_destination({.in = in,
                                      .grad_out = floats(grad_out),
                                      .probability = floats(tape.probability),
                                      .grad_qkv = out_of(g.qkv),
                                      .grad_score = out_of(grad_score),
                                      .score_features = out_of(sums[0]),
                                      .value_features = out_of(sums[1])});
  tape.kernels->backward_source({.in = in,
                                 .out_ptr = ints(tape.edges.out_ptr),
                                 .out_edge = ints(tape.edges.out_edge),
                                 .edge_dst = ints(tape.edges.edge_dst),
                                 .grad_out = floats(grad_out),
                                 .probability = floats(tape.probability),
                                 .grad_score = floats(grad_score),
                                 .grad_qkv = out_of(g.qkv)});
  const Tensor queries = qkv.narrow(1, 0, qkv.size(1) / 3);
  g.parameters.edge_weight =
      (tall_product(queries, sums[0]) + tall_product(grad_out, sums[1])).flatten(0, 1);
  // Recompute the risk MLP, now for all edges at once.
  const Tensor& features = tape.edges.edge_features;
  const Tensor hidden = at::relu(at::linear(features, p.risk_in_weight, p.risk_in_bias));
  const Tensor grad_hidden = at::mm(grad_score, p.risk_out_weight) * (hidden > 0);
  g.parameters.risk_out_weight = at::mm(grad_score.t(), hidden);
  g.parameters.risk_out_bias = grad_score.sum(0);
  g.parameters.risk_in_weight = at::mm(grad_hidden.t(), features);
  g.parameters.risk_in_bias = grad_hidden.sum(0);
  return g;
}

class DeviceAttention : public torch::autograd::Function<DeviceAttention> {
 public:
  static Tensor forward(AutogradContext* ctx, const Tensor& qkv, const Tensor& edge_weight,
                        const Tensor& risk_in_weight, const Tensor& risk_in_bias,
                        const Tensor& risk_out_weight, const Tensor& risk_out_bias,
                        const c10::intrusive_ptr<Tape>& tape) {
    ctx->save_for_backward(
        {qkv, edge_weight, risk_in_weight, risk_in_bias, risk_out_weight, risk_out_bias});
    ctx->saved_data["tape"] = at::IValue::make_capsule(tape);
    return run_forward(
        qkv, {edge_weight, risk_in_weight, risk_in_bias, risk_out_weight, risk_out_bias}, *tape);
  }

  static variable_list backward(AutogradContext* ctx, const variable_list& grads) {
    const auto saved = ctx->get_saved_variables();
    const auto tape = c10::static_intrusive_pointer_cast<Tape>(ctx->saved_data["tape"].toCapsule());
    const Gradients g = run_backward(saved[0], {saved[1], saved[2], saved[3], saved[4], saved[5]},
                                     *tape, grads[0].contiguous());
    return {g.qkv,
            g.parameters.edge_weight,
            g.parameters.risk_in_weight,
            g.parameters.risk_in_bias,
            g.parameters.risk_out_weight,
            g.parameters.risk_out_bias,
            Tensor()};
  }
};

}  // namespace

DeviceEdges make_device_edges(const GraphBatch& graph, bool by_source) {
  DeviceEdges edges{.edge_ptr = graph.edge_ptr,
                    .edge_src = graph.edge_src,
                    .edge_features = graph.edge_features,
                    .edge_dst = {},
                    .out_ptr = {},
                    .out_edge = {}};
  if (!by_source) return edges;
  edges.edge_dst = edge_destinations(graph.edge_ptr, graph.num_edges()).to(at::kInt);
  const auto [source, edge] = graph.edge_src.sort(/*stable=*/true, 0, false);
  edges.out_edge = edge.to(at::kInt);
  edges.out_ptr = at::searchsorted(
      source, at::arange(graph.num_nodes() + 1, graph.edge_src.options()), /*out_int32=*/true);
  return edges;
}

bool device_attention_fits(std::int64_t width, std::int64_t heads) {
  return width % heads == 0 && width / heads <= kMaxHeadDim;
}

Tensor device_attention(const Tensor& qkv, const DeviceEdges& edges,
                        const EdgeParameters& parameters, std::int64_t heads,
                        const AttentionKernels& kernels) {
  auto tape = c10::make_intrusive<Tape>();
  tape->edges = edges;
  tape->heads = heads;
  tape->kernels = &kernels;
  const EdgeParameters p{.edge_weight = parameters.edge_weight.contiguous(),
                         .risk_in_weight = parameters.risk_in_weight.contiguous(),
                         .risk_in_bias = parameters.risk_in_bias.contiguous(),
                         .risk_out_weight = parameters.risk_out_weight.contiguous(),
                         .risk_out_bias = parameters.risk_out_bias.contiguous()};
  const Tensor rows = qkv.to(at::kFloat).contiguous();
  const Tensor out =
      torch::GradMode::is_enabled()
          ? DeviceAttention::apply(rows, p.edge_weight, p.risk_in_weight, p.risk_in_bias,
                                   p.risk_out_weight, p.risk_out_bias, tape)
          : run_forward(rows, p, *tape);
  return out.to(qkv.scalar_type());
}

}  // namespace traffic::model::device
