/// One layer of the graph encoder: attention and a feed-forward block, each with a residual
/// connection and LayerNorm.
///
/// There are two implementations of the same function. layer_reference() uses ATen operations and
/// works on any device and with any type and size. layer_forward() and layer_backward() are fused
/// for the CPU: they work on blocks of rows that stay in the cache.
///
/// Shapes: N nodes, E edges, d = model.hidden_dim. T is the type of the operands of matrix products
/// (kernels.h).
#pragma once

#include <ATen/core/Tensor.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "attention_arguments.h"
#include "edge_index.h"
#include "packed_weight.h"
#include "segment_attention.h"

namespace traffic::model {

inline constexpr double kNormEps = 1e-5;

/// Parameters of a layer, float32. The enumerators index LayerParameters.
enum LayerParameter : std::size_t {
  kQkvWeight,      ///< [3 d, d]: queries, keys, values
  kQkvBias,        ///< [3 d]
  kEdgeWeight,     ///< [d, 4]: contribution of the edge features to keys and values
  kRiskInWeight,   ///< [32, 4]: first layer of the risk bias (segment_attention.h)
  kRiskInBias,     ///< [32]
  kRiskOutWeight,  ///< [heads, 32]: second layer of the risk bias
  kRiskOutBias,    ///< [heads]
  kOutWeight,      ///< [d, d]: output projection of the attention
  kOutBias,        ///< [d]
  kNorm1Weight,    ///< [d]
  kNorm1Bias,      ///< [d]
  kUpWeight,       ///< [4 d, d]: first layer of the feed-forward block
  kUpBias,         ///< [4 d]
  kDownWeight,     ///< [d, 4 d]: second layer of the feed-forward block
  kDownBias,       ///< [d]
  kNorm2Weight,    ///< [d]
  kNorm2Bias,      ///< [d]
  kNumLayerParameters
};
using LayerParameters = std::array<at::Tensor, kNumLayerParameters>;

inline EdgeParameters edge_parameters(const LayerParameters& p) {
  return {p[kEdgeWeight], p[kRiskInWeight], p[kRiskInBias], p[kRiskOutWeight], p[kRiskOutBias]};
}

/// Whether the fused implementation supports these sizes; other sizes need layer_reference().
bool fused_layer_fits(std::int64_t hidden_dim, std::int64_t heads);

/// A thin input is an input of known low rank R < d: x = rows * basis + offset, such as the input
/// of the first layer. Queries, keys and values are then computed from `rows`, without a product
/// over the d columns of x.
struct ThinBasis {
  at::Tensor basis;   ///< [R, d], R a multiple of kernels::kWidthUnit
  at::Tensor offset;  ///< [d]
};
/// The factors of a thin input.
struct ThinInput {
  at::Tensor rows;  ///< [N, R] float32
  ThinBasis of;
};

/// Queries, keys and values of a thin input: rows * (basis W^T) + (offset W^T + b). The depth of
/// this product is R instead of d (e.g. 16 with nine features per vehicle).
struct ThinProjection {
  PackedWeight<float> weight;  ///< [R, 3 d] in panels
  at::Tensor bias;             ///< [3 d]
};

/// Parameters in the layouts that the fused forward pass reads.
template <typename T>
struct PackedLayer {
  PackedWeight<T> qkv;                 ///< empty if the input is thin
  std::optional<ThinProjection> thin;  ///< empty if the input is not thin
  PackedEdgeParameters edges;
  PackedWeight<T> out;
  PackedWeight<T> up;
  PackedWeight<T> down;
};
/// @param thin basis of the input; null: the input is not thin
template <typename T>
PackedLayer<T> pack_layer(const LayerParameters& parameters, std::int64_t heads,
                          const ThinBasis* thin);

/// Data that a fused forward pass keeps for its backward pass. Unless stated otherwise, matrices
/// have the type of the products.
struct LayerTape {
  at::Tensor qkv;          ///< [N, 3 d]
  at::Tensor probability;  ///< [E, heads] float32
  at::Tensor attended;     ///< [N, d]
  at::Tensor xhat1;        ///< [N, d] result of the first LayerNorm before scale and shift
  at::Tensor rstd1;        ///< [N] float32: 1 / standard deviation of each row in it
  /// [N, 4 d] values before GELU. For each block of rows and each panel (kernels::kPanel columns)
  /// they are a matrix [rows, kPanel].
  at::Tensor up;
  at::Tensor xhat2;  ///< [N, d] as xhat1, for the second LayerNorm
  at::Tensor rstd2;  ///< [N] float32, as rstd1
};

/// Which nodes a layer reads and computes. It reads the nodes of group g before in_end[g], and
/// computes those before out_end[g]. Empty spans mean all nodes.
struct LayerRows {
  std::span<const std::int64_t> in_end;
  std::span<const std::int64_t> out_end;
};

struct LayerInput {
  const at::Tensor& x;  ///< [N, d] float32
  const EdgeIndex& edges;
  const LayerParameters& parameters;
  std::int64_t heads;
  const ThinInput* thin;  ///< factors of x; null if x is not a thin input
  LayerRows rows = {};
};

/// @param tape filled unless null; requires that all rows are computed
/// @return [N, d] float32; rows that are not computed are undefined
template <typename T>
at::Tensor layer_forward(const LayerInput& input, const PackedLayer<T>& packed, LayerTape* tape);

/// Result of layer_backward().
struct LayerGradients {
  at::Tensor x;  ///< undefined with a thin input, whose gradient is in `thin`
  LayerParameters parameters;
  ThinInput thin;  ///< undefined for an input that is not thin
};
template <typename T>
LayerGradients layer_backward(const LayerInput& input, const LayerTape& tape,
                              const at::Tensor& grad_out);

/// Computes attention over the edges of one graph from queries, keys and values [N, 3 d] and a
/// layer's parameters. The result is [N, d].
using AttentionFunction = std::function<at::Tensor(const at::Tensor&, const EdgeParameters&)>;

/// The layer in ATen operations around an attention function, differentiable by autograd. Products
/// are computed in `compute_type`.
at::Tensor layer_reference(const at::Tensor& x, const LayerParameters& parameters,
                           const AttentionFunction& attention, at::ScalarType compute_type);

}  // namespace traffic::model
