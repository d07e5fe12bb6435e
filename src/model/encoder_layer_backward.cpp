// The backward pass of a fused layer of the graph encoder, on the CPU.
//
// No edge connects nodes of different groups (edge_index.h), so groups are processed independently.
// A chunk consists of some groups. For each of its groups the pass computes all gradients from the
// layer's output to its input. It writes both factors of the weight gradients to the chunk's
// buffers. After the last group of a chunk it multiplies them, while they are still in the cache.
#include <ATen/Parallel.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/zeros_like.h>
#include <ATen/record_function.h>

#include <optional>
#include <type_traits>

#include "attention_arguments.h"
#include "buffer_pool.h"
#include "encoder_layer.h"
#include "encoder_layer_chunks.h"
#include "thin_projection.h"

namespace traffic::model {
namespace {

using kernels::kPanel;
using kernels::Rows;

template <typename T>
struct BackwardPass {
  const LayerInput& input;
  const LayerTape& tape;
  const float* grad_out;  ///< [N, d]
  float* grad_x;          ///< [N, d]
  std::int64_t width;
  const kernels::AttentionEdges& edges;
  PackedWeight<T> down, up, out, qkv;
  ThinGradients* thin;  ///< null if the input is not thin
  const VectorSums& vectors;
  const AttentionGradients& attention;

  [[nodiscard]] const float* parameter(LayerParameter p) const {
    return input.parameters[p].template const_data_ptr<float>();
  }
};

/// A block of rows within a group, and its position in the chunk's buffers.
struct Block {
  std::int64_t row;  ///< first node
  std::int64_t rows;
  std::int64_t place;  ///< first row in the chunk
};

/// Backward pass of the feed-forward block and its LayerNorm. Writes the gradient of the
/// feed-forward block's input to grad_normed.
template <typename T>
void feed_forward_backward(const BackwardPass<T>& pass, const Chunk<T>& chunk,
                           const VectorSums::Parts& sums, const Block& block, float* grad_normed) {
  Scratch scratch;
  const std::int64_t width = pass.width;
  const std::int64_t inner = 4 * width;
  const std::int64_t rows = block.rows;
  const auto& table = kernels::table<T>();
  const Rows<T> grad_down{scratch.take<T>(rows * padded(width)), padded(width)};
  table.layer_norm_backward({.rows = rows,
                             .width = width,
                             .grad_out = pass.grad_out + block.row * width,
                             .xhat = data<T>(pass.tape.xhat2) + block.row * width,
                             .rstd = data<float>(pass.tape.rstd2) + block.row,
                             .gamma = pass.parameter(kNorm2Weight),
                             .grad = grad_normed,
                             .grad_operand = grad_down,
                             .grad_gamma = sums.norm2_weight,
                             .grad_beta = sums.norm2_bias,
                             .grad_bias = sums.down_bias});
  transpose_rows<T>({grad_down.data, grad_down.stride}, rows, width, {},
                    {chunk.grad_down + block.place, chunk.stride});

  auto* tile = scratch.take<float>(rows * kPanel);
  const Rows<T> grad_up{scratch.take<T>(rows * padded(inner)), padded(inner)};
  const T* before = data<T>(pass.tape.up) + block.row * inner;
  for (std::int64_t p = 0; p < pass.down.operand.panels(); ++p) {
    const std::int64_t column = p * kPanel;
    multiply_panel<T>({grad_down.data, grad_down.stride}, rows, pass.down.operand, p,
                      {tile, kPanel}, false);
    table.gelu_backward({tile, rows, kPanel, kPanel}, {before + p * rows * kPanel, kPanel},
                        {grad_up.data + column, grad_up.stride},
                        chunk.activated + column * chunk.rows + block.place * kPanel,
                        sums.up_bias + column);
    table.transpose({grad_up.data + column, grad_up.stride}, rows, kPanel,
                    {chunk.grad_up + column * chunk.stride + block.place, chunk.stride});
  }
  multiply<T>({grad_up.data, grad_up.stride}, rows, pass.up.operand, {grad_normed, width}, true);
}

/// Backward pass of the first LayerNorm and the output projection. Computes grad_attended, and the
/// part of grad_x that comes through the residual connection.
template <typename T>
void output_backward(const BackwardPass<T>& pass, const Chunk<T>& chunk,
                     const VectorSums::Parts& sums, const Block& block, const float* grad_normed,
                     float* grad_attended) {
  Scratch scratch;
  const std::int64_t width = pass.width;
  const auto& table = kernels::table<T>();
  const T* xhat = data<T>(pass.tape.xhat1) + block.row * width;
  const Rows<T> grad_out{scratch.take<T>(block.rows * padded(width)), padded(width)};
  table.layer_norm_backward({.rows = block.rows,
                             .width = width,
                             .grad_out = grad_normed,
                             .xhat = xhat,
                             .rstd = data<float>(pass.tape.rstd1) + block.row,
                             .gamma = pass.parameter(kNorm1Weight),
                             .grad = pass.grad_x + block.row * width,
                             .grad_operand = grad_out,
                             .grad_gamma = sums.norm1_weight,
                             .grad_beta = sums.norm1_bias,
                             .grad_bias = sums.out_bias});
  transpose_rows<T>({grad_out.data, grad_out.stride}, block.rows, width, {},
                    {chunk.grad_out + block.place, chunk.stride});
  table.scale_shift_pairs(xhat, pass.parameter(kNorm1Weight), pass.parameter(kNorm1Bias),
                          block.rows, width, chunk.normed + block.place * width);
  multiply<T>({grad_out.data, grad_out.stride}, block.rows, pass.out.operand,
              {grad_attended, width}, false);
}

/// Backward pass of the attention.
/// @param grad_qkv [nodes of the group, 3 d], overwritten
template <typename T>
void attention_backward_of(const BackwardPass<T>& pass, const Group& group,
                           const float* grad_attended, float* grad_qkv) {
  Scratch scratch;
  const EdgeIndex& index = pass.input.edges;
  const std::int64_t columns = 3 * pass.width;
  const T* kept = data<T>(pass.tape.qkv) + group.first * columns;
  const float* qkv = nullptr;
  if constexpr (std::is_same_v<T, float>) {
    qkv = kept;
  } else {
    const std::int64_t rows = group.last - group.first;
    auto* values = scratch.take<float>(rows * columns);
    kernels::table<T>().convert_to_float({kept, columns}, rows, columns, values);
    qkv = values;
  }
  attention_backward({.edges = pass.edges,
                      .base = group.first,
                      .qkv = qkv,
                      .grad_out = grad_attended,
                      .grad_qkv = grad_qkv,
                      .probability = data<float>(pass.tape.probability),
                      .out_ptr = index.out_ptr.const_data_ptr<std::int32_t>(),
                      .out_edge = index.out_edge.const_data_ptr<std::int32_t>(),
                      .edge_dst = index.edge_dst.const_data_ptr<std::int32_t>()},
                     index, group.index, pass.attention);
}

/// Backward pass from queries, keys and values to the layer's input. Adds to grad_x.
template <typename T>
void projection_backward(const BackwardPass<T>& pass, const Chunk<T>& chunk, const Block& block,
                         const float* grad_qkv) {
  Scratch scratch;
  const std::int64_t columns = 3 * pass.width;
  const Rows<const T> operand = left_operand<T>({grad_qkv, columns}, block.rows, columns, scratch);
  multiply<T>(operand, block.rows, pass.qkv.operand,
              {pass.grad_x + block.row * pass.width, pass.width}, true);
  transpose_rows<T>(operand, block.rows, columns, {}, {chunk.grad_qkv + block.place, chunk.stride});
}

/// Packs the group's rows of attended and x as right-hand sides of products. With float there is
/// nothing to pack: the products read the tape and the input.
template <typename T>
void pack_group(const BackwardPass<T>& pass, const Chunk<T>& chunk, const Group& group) {
  if constexpr (!std::is_same_v<T, float>) {
    const std::int64_t width = pass.width;
    const std::int64_t rows = group.last - group.first;
    const auto& table = kernels::table<T>();
    table.pack_pairs({data<T>(pass.tape.attended) + group.first * width, width}, rows, width,
                     {chunk.attended + group.offset * width, width});
    if (pass.thin == nullptr) {
      table.pack_pairs_float(
          {pass.input.x.template const_data_ptr<float>() + group.first * width, width}, rows, width,
          {chunk.x + group.offset * width, width});
    }
  }
}

template <typename T>
void run_group(const BackwardPass<T>& pass, const Chunk<T>& chunk, const Group& group) {
  Scratch scratch;
  const std::int64_t width = pass.width;
  const std::int64_t nodes = group.last - group.first;
  const VectorSums::Parts sums = pass.vectors.group(group.index);
  auto* grad_attended = scratch.take<float>(nodes * width);
  auto* grad_qkv = scratch.take<float>(nodes * 3 * width);
  const auto for_blocks = [&](const auto& work) {
    for_row_blocks(group.first, group.last, [&](std::int64_t row, std::int64_t rows) {
      work(Block{row, rows, group.offset + row - group.first}, row - group.first);
    });
  };
  for_blocks([&](const Block& block, std::int64_t row) {
    Scratch block_scratch;
    auto* grad_normed = block_scratch.take<float>(block.rows * width);
    feed_forward_backward(pass, chunk, sums, block, grad_normed);
    output_backward(pass, chunk, sums, block, grad_normed, grad_attended + row * width);
  });
  attention_backward_of(pass, group, grad_attended, grad_qkv);
  kernels::float_table().column_sums({grad_qkv, 3 * width}, nodes, 3 * width, sums.qkv_bias);
  if (pass.thin != nullptr) {
    pass.thin->add_group({.index = group.index,
                          .first = group.first,
                          .rows = nodes,
                          .grad_qkv = {grad_qkv, 3 * width},
                          .grad_x = {pass.grad_x + group.first * width, width}});
  } else {
    for_blocks([&](const Block& block, std::int64_t row) {
      projection_backward(pass, chunk, block, grad_qkv + row * 3 * width);
    });
  }
  pack_group(pass, chunk, group);
}

template <typename T>
void add_weight_gradients(const BackwardPass<T>& pass, const Chunk<T>& chunk,
                          std::int64_t first_row, bool accumulate, LayerParameters& grads) {
  const std::int64_t width = pass.width;
  const std::int64_t rows = chunk.rows;
  const auto add = [&](LayerParameter weight, const T* grad, const Operand<T>& input) {
    add_weight_gradient<T>({{grad, chunk.stride}, input, grads[weight], accumulate});
  };
  const auto plain = [&](const T* input) { return plain_operand<T>(input, rows, width, width); };
  add(kDownWeight, chunk.grad_down,
      {chunk.activated, rows, 4 * width, kPanel, kPanel, kPanel * rows});
  add(kUpWeight, chunk.grad_up, plain(chunk.normed));
  if constexpr (std::is_same_v<T, float>) {
    add(kOutWeight, chunk.grad_out, plain(data<T>(pass.tape.attended) + first_row * width));
    if (pass.thin) return;
    add(kQkvWeight, chunk.grad_qkv,
        plain(pass.input.x.template const_data_ptr<float>() + first_row * width));
  } else {
    add(kOutWeight, chunk.grad_out, plain(chunk.attended));
    if (pass.thin) return;
    add(kQkvWeight, chunk.grad_qkv, plain(chunk.x));
  }
}

template <typename T>
void run_chunks(const BackwardPass<T>& pass, LayerParameters& grads) {
  bool accumulate = false;
  for (const ChunkPlan& plan : plan_chunks<T>(pass.input.edges)) {
    Scratch scratch;
    const Chunk<T> chunk(plan.rows, pass.width, scratch);
    at::parallel_for(0, static_cast<std::int64_t>(plan.groups.size()), 1,
                     [&](std::int64_t first, std::int64_t last) {
                       for (std::int64_t g = first; g < last; ++g)
                         run_group(pass, chunk, plan.groups[static_cast<std::size_t>(g)]);
                       finish_products<T>();
                     });
    add_weight_gradients(pass, chunk, plan.groups.front().first, accumulate, grads);
    accumulate = true;
  }
}

}  // namespace

template <typename T>
LayerGradients layer_backward(const LayerInput& input, const LayerTape& tape,
                              const at::Tensor& grad_out) {
  RECORD_USER_SCOPE("encoder_layer_backward");
  const std::int64_t nodes = input.x.size(0);
  const std::int64_t width = input.x.size(1);
  const std::int64_t groups = input.edges.num_groups();
  const auto& p = input.parameters;
  const PackedEdgeParameters edges(edge_parameters(p), input.heads);
  const VectorSums vectors(groups, width);
  const AttentionGradients attention(groups, width, input.heads);
  LayerGradients grads{pooled_empty<float>({nodes, width}), {}, {}};
  std::optional<ThinGradients> thin;
  if (input.thin != nullptr) thin.emplace(*input.thin, p, groups);
  for (const LayerParameter weight : {kQkvWeight, kOutWeight, kUpWeight, kDownWeight}) {
    grads.parameters[weight] =
        nodes > 0 ? pooled_empty<float>(p[weight].sizes()) : at::zeros_like(p[weight]);
  }
  const BackwardPass<T> pass{input,
                             tape,
                             grad_out.const_data_ptr<float>(),
                             data<float>(grads.x),
                             width,
                             edges.with(input.edges),
                             pack_backward<T>(p[kDownWeight]),
                             pack_backward<T>(p[kUpWeight]),
                             pack_backward<T>(p[kOutWeight]),
                             thin ? PackedWeight<T>{} : pack_backward<T>(p[kQkvWeight]),
                             thin ? &*thin : nullptr,
                             vectors,
                             attention};
  run_chunks(pass, grads.parameters);
  vectors.write_total(grads.parameters);
  if (thin) {
    thin->finish(grads);
    grads.x.reset();
  }
  const EdgeParameters edge_grads = attention.total();
  grads.parameters[kEdgeWeight] = edge_grads.edge_weight;
  grads.parameters[kRiskInWeight] = edge_grads.risk_in_weight;
  grads.parameters[kRiskInBias] = edge_grads.risk_in_bias;
  grads.parameters[kRiskOutWeight] = edge_grads.risk_out_weight;
  grads.parameters[kRiskOutBias] = edge_grads.risk_out_bias;
  return grads;
}
template LayerGradients layer_backward<float>(const LayerInput&, const LayerTape&,
                                              const at::Tensor&);
template LayerGradients layer_backward<kernels::Bf16>(const LayerInput&, const LayerTape&,
                                                      const at::Tensor&);

}  // namespace traffic::model
