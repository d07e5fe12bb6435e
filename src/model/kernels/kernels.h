/// Kernels: the arithmetic of the fused layers on the CPU, as functions on plain pointers, without
/// torch. They are compiled for several instruction sets. A table contains the functions that fit
/// this machine.
///
/// T is the type of the operands of matrix products and of data kept for the backward pass: float
/// or Bf16. Sums, exponentials and normalisation are computed in float. Widths (columns) are
/// multiples of kWidthUnit. Shapes: N nodes, E edges, d channels of all heads together.
#pragma once

#include <cstdint>

namespace traffic::model::kernels {

/// A bfloat16 number: the upper half of a float.
struct Bf16 {
  std::uint16_t bits;
};

inline constexpr std::int64_t kWidthUnit = 16;  ///< widths of matrices are multiples of this
inline constexpr std::int64_t kPanel =
    64;  ///< columns of one panel of the right-hand side of a product
inline constexpr std::int64_t kMaxHeads = 16;    ///< maximum number of attention heads
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

/// Arguments of layer normalisation of the rows of y = product + bias + residual. With mean and
/// rstd = 1 / standard deviation of a row, xhat = (y - mean) * rstd and out = xhat * gamma + beta.
template <typename T>
struct LayerNorm {
  std::int64_t rows;
  std::int64_t width;
  const float* product;   ///< [rows, width]
  const float* bias;      ///< [width]; null: no bias
  const float* residual;  ///< [rows, width]; null: no residual
  const float* gamma;     ///< [width]
  const float* beta;      ///< [width]
  float eps;              ///< added to the variance
  T* xhat;                ///< [rows, width] for the backward pass; null: not kept
  float* rstd;            ///< [rows]; null if xhat is null
  float* out;             ///< [rows, width]
  Rows<T> out_operand;    ///< [rows, width], out as an operand; null: not needed
};

/// Arguments of the backward pass of LayerNorm. It computes the gradient of y from that of out, and
/// adds to the gradients of gamma, beta and bias.
template <typename T>
struct LayerNormBackward {
  std::int64_t rows;
  std::int64_t width;
  const float* grad_out;  ///< [rows, width]
  const T* xhat;          ///< [rows, width], as in LayerNorm
  const float* rstd;      ///< [rows], as in LayerNorm
  const float* gamma;     ///< [width]
  float* grad;            ///< [rows, width] gradient of y
  Rows<T> grad_operand;   ///< [rows, width], grad as an operand; null: not needed
  float* grad_gamma;      ///< [width], added to
  float* grad_beta;       ///< [width], added to
  float* grad_bias;       ///< [width], added to
};

/// Inputs of a layer's attention, in addition to queries, keys and values.
struct AttentionEdges {
  const std::int32_t* edge_ptr;  ///< [N + 1] begin of the incoming edges of each node
  const std::int32_t* edge_src;  ///< [E] node at which the edge starts
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

/// Arguments of attention. Matrices with one row per node begin with the row of node `base`.
struct Attention {
  AttentionEdges edges;
  std::int64_t base;
  const float* qkv;    ///< [.., 3 d]
  float* out;          ///< [.., d]; zero for a node without incoming edges
  float* probability;  ///< [E, heads]; null: not kept
};

/// Gradients of parameters, to which every edge contributes. Each group of nodes has its own
/// object. The caller adds up these objects in the order of the groups.
struct AttentionSums {
  float* edge_weight;    ///< [4, d]
  float* risk_in;        ///< [4, kRiskHidden]
  float* risk_in_bias;   ///< [kRiskHidden]
  float* risk_out;       ///< [kMaxHeads, kRiskHidden], by head
  float* risk_out_bias;  ///< [kMaxHeads]
};

/// Arguments of the backward pass of attention, for a group of nodes that no edge leaves or enters.
struct AttentionBackward {
  AttentionEdges edges;
  std::int64_t base;
  const float* qkv;              ///< [.., 3 d]
  const float* grad_out;         ///< [.., d]
  float* grad_qkv;               ///< [.., 3 d]
  const float* probability;      ///< [E, heads]
  const std::int32_t* out_ptr;   ///< [N + 1] range of a node's outgoing edges in out_edge
  const std::int32_t* out_edge;  ///< [E] indices of edges, sorted by the node at which they start
  const std::int32_t* edge_dst;  ///< [E] node to which the edge leads
};

/// Arguments of one time step of an LSTM for 16 of its units. They have 64 gates, which form one
/// panel: 16 columns for each of the input, forget, cell and output gates.
template <typename T>
struct LstmGates {
  std::int64_t rows;
  const float* product;  ///< [rows, kPanel] product with the input plus product with the state
  const float* bias;     ///< [kPanel]
  Rows<const float> previous_cell;  ///< [rows, 16]; null: zero
  const std::uint8_t* present;      ///< [rows]; null: all rows are present
  Rows<float> cell;                 ///< [rows, 16]
  Rows<T> output;                   ///< [rows, 16]
  Rows<float> output_float;         ///< output in float; null: not needed
  T* gates;                         ///< [rows, kPanel], kept for the backward pass; null: not kept
};

/// Arguments of the backward pass of LstmGates.
template <typename T>
struct LstmGatesBackward {
  std::int64_t rows;
  Rows<const float> grad_output;  ///< [rows, 16]
  float* grad_cell;   ///< [rows, 16] gradient of the cell from the following step; replaced by that
                      ///< of the previous cell
  const T* gates;     ///< [rows, kPanel]
  const float* cell;  ///< [rows, 16]
  const float* previous_cell;   ///< [rows, 16]; null: zero
  const std::uint8_t* present;  ///< [rows]; null: all rows are present
  Rows<T> grad_gates;           ///< [rows, kPanel]
  float* grad_bias;             ///< [kPanel], added to
};

/// Arguments of a product c[rows, columns] = a[rows, depth] b[depth, columns], for any sizes and
/// strides.
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

/// Pointers to the kernels that exist for float only.
struct FloatTable {
  /// Computes nodes [first, last). `scratch` has kMaxHeads floats for each incoming edge of these
  /// nodes.
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

/// Pointers to the kernels for operands of type T. A row pair of Bf16 consists of two rows that are
/// interleaved element by element (gemm.h); for float it is two rows.
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

/// All kernels, compiled for one instruction set.
struct InstructionSet {
  const char* name;  ///< "avx512", "avx2" or "x86_64"
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
/// The kernels for operands of type T in the best instruction set.
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
