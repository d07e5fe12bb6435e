// The forward pass of a fused layer of the graph encoder, on the CPU. It runs the whole layer for
// one group of nodes after the other, so that the data of a group stay in the cache.
#include <ATen/Parallel.h>
#include <ATen/record_function.h>

#include <algorithm>
#include <type_traits>

#include "buffer_pool.h"
#include "encoder_layer.h"
#include "thin_projection.h"

namespace traffic::model {
namespace {

using kernels::kMaxHeads;
using kernels::kPanel;
using kernels::Rows;

/// Data shared by the groups of one forward pass.
template <typename T>
struct ForwardPass {
  const LayerInput& input;
  const PackedLayer<T>& packed;
  const kernels::AttentionEdges edges;
  LayerTape* tape;  ///< data for the backward pass; null if there is none
  std::int64_t width;
  float* out;  ///< [N, d]

  [[nodiscard]] const float* parameter(LayerParameter p) const {
    return input.parameters[p].template const_data_ptr<float>();
  }
  [[nodiscard]] const float* x(std::int64_t row) const {
    return input.x.template const_data_ptr<float>() + row * width;
  }
};

/// Memory for a group's queries, keys and values: in the type T for the tape, and as floats for the
/// attention. If T is float, `operand` serves for both.
template <typename T>
struct QkvRows {
  Rows<T> operand;     ///< null: not needed
  Rows<float> values;  ///< null: not needed

  /// The rows from a given row on.
  [[nodiscard]] QkvRows from(std::int64_t row) const {
    return {{operand.data ? operand.data + row * operand.stride : nullptr, operand.stride},
            {values.data ? values.data + row * values.stride : nullptr, values.stride}};
  }
};

/// Computes qkv = operand * weight + bias for `rows` nodes, from the given panel of columns on.
template <typename S, typename T>
void project(Rows<const S> operand, std::int64_t rows, const Operand<S>& weight,
             std::int64_t first_panel, const float* bias, const QkvRows<T>& qkv) {
  Scratch scratch;
  auto* tile = scratch.take<float>(rows * kPanel);
  for (std::int64_t p = first_panel; p < weight.panels(); ++p) {
    const std::int64_t c = p * kPanel;
    multiply_panel(operand, rows, weight, p, {tile, kPanel}, false);
    kernels::table<T>().add_bias(
        {tile, rows, weight.panel_columns(p), kPanel}, bias + c,
        {qkv.operand.data ? qkv.operand.data + c : nullptr, qkv.operand.stride},
        {qkv.values.data ? qkv.values.data + c : nullptr, qkv.values.stride});
  }
}

/// The parts of qkv that a layer computes for a node. It needs no queries of a node whose output it
/// does not compute.
enum class Projected { kAll, kKeysAndValues };

template <typename T>
void project_qkv(const ForwardPass<T>& pass, Projected what, std::int64_t row, std::int64_t rows,
                 const QkvRows<T>& qkv) {
  const std::int64_t first_panel = what == Projected::kAll ? 0 : pass.width / kPanel;
  if (const auto& thin = pass.packed.thin) {
    const at::Tensor& from = pass.input.thin->rows;
    const std::int64_t rank = from.size(1);
    project<float, T>({from.const_data_ptr<float>() + row * rank, rank}, rows, thin->weight.operand,
                      first_panel, thin->bias.template const_data_ptr<float>(), qkv);
    return;
  }
  Scratch scratch;
  const Rows<const T> x = left_operand<T>({pass.x(row), pass.width}, rows, pass.width, scratch);
  project<T, T>(x, rows, pass.packed.qkv.operand, first_panel, pass.parameter(kQkvBias), qkv);
}

/// Computes the output projection of the attention, the residual connection and LayerNorm.
template <typename T>
void finish_attention(const ForwardPass<T>& pass, std::int64_t row, std::int64_t rows,
                      const T* attended, float* normed, Rows<T> normed_operand) {
  Scratch scratch;
  const std::int64_t width = pass.width;
  auto* product = scratch.take<float>(rows * width);
  multiply<T>({attended, width}, rows, pass.packed.out.operand, {product, width}, false);
  kernels::table<T>().layer_norm(
      {.rows = rows,
       .width = width,
       .product = product,
       .bias = pass.parameter(kOutBias),
       .residual = pass.x(row),
       .gamma = pass.parameter(kNorm1Weight),
       .beta = pass.parameter(kNorm1Bias),
       .eps = static_cast<float>(kNormEps),
       .xhat = pass.tape ? data<T>(pass.tape->xhat1) + row * width : nullptr,
       .rstd = pass.tape ? data<float>(pass.tape->rstd1) + row : nullptr,
       .out = normed,
       .out_operand = normed_operand});
}

/// Computes the feed-forward block, the residual connection and LayerNorm. The tape stores each
/// panel of a block separately, [panels, rows, kPanel].
template <typename T>
void feed_forward(const ForwardPass<T>& pass, std::int64_t row, std::int64_t rows,
                  const float* normed, Rows<const T> normed_operand) {
  Scratch scratch;
  const std::int64_t width = pass.width;
  const std::int64_t inner = 4 * width;
  auto* tile = scratch.take<float>(rows * kPanel);
  const Rows<T> activated{scratch.take<T>(rows * padded(inner)), padded(inner)};
  const auto& up = pass.packed.up.operand;
  for (std::int64_t p = 0; p < up.panels(); ++p) {
    multiply_panel(normed_operand, rows, up, p, {tile, kPanel}, false);
    T* before = pass.tape ? data<T>(pass.tape->up) + row * inner + p * rows * kPanel : nullptr;
    kernels::table<T>().gelu({tile, rows, kPanel, kPanel}, pass.parameter(kUpBias) + p * kPanel,
                             {before, kPanel}, {activated.data + p * kPanel, activated.stride});
  }
  auto* product = scratch.take<float>(rows * width);
  multiply<T>({activated.data, activated.stride}, rows, pass.packed.down.operand, {product, width},
              false);
  kernels::table<T>().layer_norm(
      {.rows = rows,
       .width = width,
       .product = product,
       .bias = pass.parameter(kDownBias),
       .residual = normed,
       .gamma = pass.parameter(kNorm2Weight),
       .beta = pass.parameter(kNorm2Bias),
       .eps = static_cast<float>(kNormEps),
       .xhat = pass.tape ? data<T>(pass.tape->xhat2) + row * width : nullptr,
       .rstd = pass.tape ? data<float>(pass.tape->rstd2) + row : nullptr,
       .out = pass.out + row * width,
       .out_operand = {nullptr, 0}});
}

/// Computes all steps after attention, for a block of rows.
/// @param attended [rows, d] float output of the attention
template <typename T>
void finish_block(const ForwardPass<T>& pass, std::int64_t row, std::int64_t rows,
                  float* attended) {
  Scratch scratch;
  const std::int64_t width = pass.width;
  auto* normed = scratch.take<float>(rows * width);
  if constexpr (std::is_same_v<T, float>) {
    finish_attention<T>(pass, row, rows, attended, normed, {nullptr, 0});
    feed_forward<T>(pass, row, rows, normed, {normed, width});
  } else {
    T* operand =
        pass.tape ? data<T>(pass.tape->attended) + row * width : scratch.take<T>(rows * width);
    kernels::table<T>().convert({attended, rows, width, width}, {operand, width});
    const Rows<T> normed_operand{scratch.take<T>(rows * width), width};
    finish_attention<T>(pass, row, rows, operand, normed, normed_operand);
    feed_forward<T>(pass, row, rows, normed, {normed_operand.data, width});
  }
}

/// The nodes of a group: the layer reads [first, in_end) and computes [first, out_end).
struct GroupRows {
  std::int64_t first;
  std::int64_t in_end;
  std::int64_t out_end;
};

GroupRows rows_of_group(const LayerInput& input, std::size_t g) {
  const std::int64_t last = input.edges.group_ptr[g + 1];
  return {.first = input.edges.group_ptr[g],
          .in_end = input.rows.in_end.empty() ? last : input.rows.in_end[g],
          .out_end = input.rows.out_end.empty() ? last : input.rows.out_end[g]};
}

/// Runs the whole layer for a group.
template <typename T>
void run_group(const ForwardPass<T>& pass, const GroupRows& group) {
  const std::int64_t first = group.first;
  const std::int64_t outs = group.out_end - first;
  Scratch scratch;
  const std::int64_t width = pass.width;
  QkvRows<T> qkv{{pass.tape ? data<T>(pass.tape->qkv) + first * 3 * width : nullptr, 3 * width},
                 {nullptr, 3 * width}};
  float* attended = nullptr;
  const float* values = nullptr;
  if constexpr (std::is_same_v<T, float>) {
    if (!pass.tape) qkv.operand.data = scratch.take<T>((group.in_end - first) * 3 * width);
    attended =
        pass.tape ? data<T>(pass.tape->attended) + first * width : scratch.take<T>(outs * width);
    values = qkv.operand.data;
  } else {
    qkv.values.data = scratch.take<float>((group.in_end - first) * 3 * width);
    attended = scratch.take<float>(outs * width);
    values = qkv.values.data;
  }
  const auto project_rows = [&](Projected what, std::int64_t begin, std::int64_t end) {
    for_row_blocks(begin, end, [&](std::int64_t row, std::int64_t rows) {
      project_qkv(pass, what, row, rows, qkv.from(row - first));
    });
  };
  project_rows(Projected::kAll, first, group.out_end);
  project_rows(Projected::kKeysAndValues, group.out_end, group.in_end);
  const std::int64_t edges = pass.edges.edge_ptr[group.out_end] - pass.edges.edge_ptr[first];
  kernels::float_table().attention({pass.edges, first, values, attended,
                                    pass.tape ? data<float>(pass.tape->probability) : nullptr},
                                   first, group.out_end, scratch.take<float>(edges * kMaxHeads));
  for_row_blocks(first, group.out_end, [&](std::int64_t row, std::int64_t rows) {
    finish_block(pass, row, rows, attended + (row - first) * width);
  });
}

template <typename T>
void allocate(LayerTape& tape, std::int64_t nodes, std::int64_t edges, std::int64_t width,
              std::int64_t heads) {
  tape.qkv = pooled_empty<T>({nodes, 3 * width});
  tape.probability = pooled_empty<float>({edges, heads});
  tape.attended = pooled_empty<T>({nodes, width});
  tape.xhat1 = pooled_empty<T>({nodes, width});
  tape.rstd1 = pooled_empty<float>({nodes});
  tape.up = pooled_empty<T>({nodes, 4 * width});
  tape.xhat2 = pooled_empty<T>({nodes, width});
  tape.rstd2 = pooled_empty<float>({nodes});
}

}  // namespace

bool fused_layer_fits(std::int64_t hidden_dim, std::int64_t heads) {
  return heads <= kMaxHeads && hidden_dim % heads == 0 &&
         hidden_dim / heads % kernels::kWidthUnit == 0;
}

template <typename T>
PackedLayer<T> pack_layer(const LayerParameters& parameters, std::int64_t heads,
                          const ThinBasis* thin) {
  PackedLayer<T> packed{.qkv = {},
                        .thin = {},
                        .edges = {edge_parameters(parameters), heads},
                        .out = pack_forward<T>(parameters[kOutWeight]),
                        .up = pack_forward<T>(parameters[kUpWeight]),
                        .down = pack_forward<T>(parameters[kDownWeight])};
  if (thin != nullptr) {
    packed.thin = project_thin(*thin, parameters);
  } else {
    packed.qkv = pack_forward<T>(parameters[kQkvWeight]);
  }
  return packed;
}

template <typename T>
at::Tensor layer_forward(const LayerInput& input, const PackedLayer<T>& packed, LayerTape* tape) {
  RECORD_USER_SCOPE("encoder_layer_forward");
  const std::int64_t nodes = input.x.size(0);
  const std::int64_t width = input.x.size(1);
  const at::Tensor out = pooled_empty<float>({nodes, width});
  if (tape != nullptr) allocate<T>(*tape, nodes, input.edges.num_edges(), width, input.heads);
  const ForwardPass<T> pass{input, packed, packed.edges.with(input.edges),
                            tape,  width,  data<float>(out)};
  at::parallel_for(0, input.edges.num_groups(), 1, [&](std::int64_t first, std::int64_t last) {
    for (auto g = static_cast<std::size_t>(first); g < static_cast<std::size_t>(last); ++g) {
      run_group(pass, rows_of_group(input, g));
    }
    finish_products<T>();
  });
  return out;
}

template PackedLayer<float> pack_layer<float>(const LayerParameters&, std::int64_t,
                                              const ThinBasis*);
template PackedLayer<kernels::Bf16> pack_layer<kernels::Bf16>(const LayerParameters&, std::int64_t,
                                                              const ThinBasis*);
template at::Tensor layer_forward(const LayerInput&, const PackedLayer<float>&, LayerTape*);
template at::Tensor layer_forward(const LayerInput&, const PackedLayer<kernels::Bf16>&, LayerTape*);

}  // namespace traffic::model
