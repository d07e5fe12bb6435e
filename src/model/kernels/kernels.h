/// The arithmetic of the fused layers: plain functions on pointers, compiled for several
/// instruction sets, and the table of those that fit this machine. It does not use torch.
///
/// T is the type of the operands of matrix products and of data kept for the backward pass: float
/// or Bf16. Sums, exponentials and normalisation are computed in float. Widths (columns) are
/// multiples of kWidthUnit. Shapes: N nodes, E edges, d channels of all heads together.
#pragma once

#include <cstdint>

namespace traffic::model::kernels {

struct Bf16 {
  std::uint16_t bits;
};

inline constexpr std::int64_t kWidthUnit = 16;  ///< matrix widths are multiples of it
inline constexpr std::int64_t kPanel =
    64;  ///< columns of one panel of the right-hand side of a product
inline constexpr std::int64_t kMaxHeads = 16;    ///< attention heads
inline constexpr std::int64_t kRiskHidden = 32;  ///< hidden units of the MLP of the risk bias
inline constexpr std::int64_t kEdgeFeatures = 4;

/// A part of a float matrix: `rows` x `columns`, with `stride` elements between rows.
struct Tile {
  const float* data;
  std::int64_t rows;
  std::int64_t columns;
  std::int64_t stride;
};

/// A writable matrix of T with `stride` elements between rows; `data` may be null where a kernel
/// says so.
template <typename T>
struct Rows {
  T* data;
  std::int64_t stride;
};

/// y := product + bias + residual; xhat = (y - mean) * rstd; out = xhat * gamma + beta.
template <typename T>
struct LayerNorm {
  std::int64_t rows;
  std::int64_t width;
  const float* product;   ///< [rows, width]
  const float* bias;      ///< [width]; null: no bias
  const float* residual;  ///< [rows, width]; null: no residual
  const float* gamma;
  const float* beta;
  float eps;
  T* xhat;              ///< [rows, width] for the backward pass; null: not kept
  float* rstd;          ///< [rows]; null if xhat is null
  float* out;           ///< [rows, width]
  Rows<T> out_operand;  ///< [rows, width], out as an operand; null: not needed
};

/// Computes the gradient of y from that of out; adds to the gradients of gamma, beta and bias.
template <typename T>
struct LayerNormBackward {
  std::int64_t rows;
  std::int64_t width;
  const float* grad_out;
  const T* xhat;
  const float* rstd;
  const float* gamma;
  float* grad;           ///< [rows, width]
  Rows<T> grad_operand;  ///< [rows, width], grad as an operand; null: not needed
  float* grad_gamma;     ///< [width], added to
  float* grad_beta;      ///< [width], added to
  float* grad_bias;      ///< [width], added to
};

/// Inputs of a layer's attention in addition to queries, keys and values.
struct AttentionEdges {
  const std::int32_t* edge_ptr;  ///< [N + 1] incoming edges of a node
  const std::int32_t* edge_src;  ///< [E]
  const float* edge_features;    ///< [E, 4]
  std::int64_t heads;
  std::int64_t head_dim;      ///< a multiple of kWidthUnit
  float scale;                ///< factor of the queries: 1 / sqrt(head_dim)
  const float* edge_weight;   ///< [4, d]: the linear map of the edge features, by feature
  const float* risk_in;       ///< [4, kRiskHidden], by feature
  const float* risk_in_bias;  ///< [kRiskHidden]
  const float* risk_out;  ///< [kRiskHidden, kMaxHeads], by hidden unit, zero after the last head
  const float* risk_out_bias;  ///< [kMaxHeads], zero after the last head
};

/// Matrices with one row per node begin with the row of node `base`.
struct Attention {
  AttentionEdges edges;
  std::int64_t base;
  const float* qkv;    ///< [.., 3 d]
  float* out;          ///< [.., d]; zero for a node without incoming edges
  float* probability;  ///< [E, heads]; null: not kept
};

/// Gradients to which every edge contributes. Each group of nodes has one of these; they are added
/// up in order afterwards.
struct AttentionSums {
  float* edge_weight;    ///< [4, d]
  float* risk_in;        ///< [4, kRiskHidden]
  float* risk_in_bias;   ///< [kRiskHidden]
  float* risk_out;       ///< [kMaxHeads, kRiskHidden], by head
  float* risk_out_bias;  ///< [kMaxHeads]
};

/// Arguments for a group of nodes that no edge leaves or enters.
struct AttentionBackward {
  AttentionEdges edges;
  std::int64_t base;
  const float* qkv;              ///< [.., 3 d]
  const float* grad_out;         ///< [.., d]
  float* grad_qkv;               ///< [.., 3 d]
  const float* probability;      ///< [E, heads]
  const std::int32_t* out_ptr;   ///< [N + 1] ranges of out_edge with the outgoing edges of a node
  const std::int32_t* out_edge;  ///< [E] index of the edge
  const std::int32_t* edge_dst;  ///< [E]
};

/// One time step of an LSTM for 16 units (one panel: 16 columns of each of the input, forget, cell
/// and output gates).
template <typename T>
struct LstmGates {
  std::int64_t rows;
  const float* product;             ///< [rows, kPanel] sums of both products
  const float* bias;                ///< [kPanel]
  Rows<const float> previous_cell;  ///< [rows, 16]; null: zero
  const std::uint8_t* present;      ///< [rows]; null: all rows are present
  Rows<float> cell;                 ///< [rows, 16]
  Rows<T> output;                   ///< [rows, 16]
  Rows<float> output_float;         ///< output in float; null: not needed
  T* gates;                         ///< [rows, kPanel], kept for the backward pass; null: not kept
};

/// The backward pass of the same step.
template <typename T>
struct LstmGatesBackward {
  std::int64_t rows;
  Rows<const float> grad_output;  ///< [rows, 16]
  float* grad_cell;   ///< [rows, 16] in: of the cell, from the following step; out: of the previous
                      ///< cell
  const T* gates;     ///< [rows, kPanel]
  const float* cell;  ///< [rows, 16]
  const float* previous_cell;   ///< [rows, 16]; null: zero
  const std::uint8_t* present;  ///< [rows]; null: all rows are present
  Rows<T> grad_gates;           ///< [rows, kPanel]
  float* grad_bias;             ///< [kPanel], added to
};

/// c[rows, columns] = a[rows, depth] b[depth, columns], for any sizes and strides.
struct Product {
  std::int64_t rows;
  std::int64_t depth;
  std::int64_t columns;
  const float* a;
  std::int64_t a_row_stride;
  std::int64_t a_depth_stride;
  const float* b;
  std::int64_t b_stride;
  float* c;
  std::int64_t c_stride;
};

/// Functions that do not depend on the type of operands.
struct FloatTable {
  /// Computes nodes [first, last). `scratch` has kMaxHeads floats for each of their incoming edges.
  void (*attention)(const Attention& args, std::int64_t first, std::int64_t last, float* scratch);
  void (*attention_backward)(const AttentionBackward& args, const AttentionSums& sums,
                             std::int64_t first, std::int64_t last, float* scratch);
  /// total[c] += sum of in[r][c]
  void (*column_sums)(Rows<const float> in, std::int64_t rows, std::int64_t columns, float* total);
  void (*product)(const Product& args);
  /// out[c][r] = in[r][c], for any sizes; rows of out are padded with zeros to kWidthUnit
  void (*transpose_all)(Rows<const float> in, std::int64_t rows, std::int64_t columns,
                        Rows<float> out);
  /// x = tanh(x)
  void (*tanh_all)(float* x, std::int64_t count);
  /// out = grad (1 - y^2)
  void (*tanh_backward_all)(const float* grad, const float* y, std::int64_t count, float* out);
};

template <typename T>
struct Table {
  /// out = tile + bias, as an operand, in float, or both
  void (*add_bias)(const Tile& tile, const float* bias, Rows<T> out, Rows<float> out_float);
  /// before = tile + bias (if kept), after = GELU(before), exact (erf) form
  void (*gelu)(const Tile& tile, const float* bias, Rows<T> before, Rows<T> after);
  /// grad_before = tile * GELU'(before); after = GELU(before) in row pairs of stride kPanel; adds
  /// to grad_bias
  void (*gelu_backward)(const Tile& tile, Rows<const T> before, Rows<T> grad_before, T* after,
                        float* grad_bias);
  void (*layer_norm)(const LayerNorm<T>& args);
  void (*layer_norm_backward)(const LayerNormBackward<T>& args);
  /// out = xhat * gamma + beta in row pairs of stride `width`
  void (*scale_shift_pairs)(const T* xhat, const float* gamma, const float* beta, std::int64_t rows,
                            std::int64_t width, T* out);

  void (*lstm_gates)(const LstmGates<T>& args);
  void (*lstm_gates_backward)(const LstmGatesBackward<T>& args);

  /// out = in, [rows, columns]
  void (*convert)(const Tile& in, Rows<T> out);
  /// out = in, [rows, columns]; out has no gaps
  void (*convert_to_float)(Rows<const T> in, std::int64_t rows, std::int64_t columns, float* out);
  /// out[k][0..15] = in[0..15][k] for k < depth: sixteen rows of a weight as columns of a panel
  void (*pack_weight_rows)(const float* in, std::int64_t stride, std::int64_t depth, T* out);
  /// Packs rows into row pairs.
  void (*pack_pairs)(Rows<const T> in, std::int64_t rows, std::int64_t columns, Rows<T> out);
  void (*pack_pairs_float)(Rows<const float> in, std::int64_t rows, std::int64_t columns,
                           Rows<T> out);
  /// out[c][r] = in[r][c]; Bf16: rows are padded with zeros to an even length
  void (*transpose)(Rows<const T> in, std::int64_t rows, std::int64_t columns, Rows<T> out);
};

struct InstructionSet {
  const char* name;
  FloatTable common;
  Table<float> for_float;
  Table<Bf16> for_bf16;
};

/// The best instruction set of this processor: AVX-512 (x86-64-v4), AVX2 (x86-64-v3) or plain
/// x86-64.
const InstructionSet& instruction_set();
/// The i-th instruction set that this processor supports, best first; null after the last one.
const InstructionSet* usable_instruction_set(int i);

inline const FloatTable& float_table() { return instruction_set().common; }
template <typename T>
const Table<T>& table();
template <>
inline const Table<float>& table<float>() {
  return instruction_set().for_float;
}
template <>
inline const Table<Bf16>& table<Bf16>() {
  return instruction_set().for_bf16;
}

}  // namespace traffic::model::kernels
