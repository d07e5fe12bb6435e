/// One layer of the graph encoder: attention and feed-forward block, each with residual and
/// LayerNorm.
///
/// Two implementations of the same function: plain ATen operations (any device, any type, any
/// sizes), and a fused one for the CPU with a backward pass of its own, which works through blocks
/// of rows that stay in the cache.
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

/// Parameters of a layer, float32; the enumerators index LayerParameters.
enum LayerParameter : std::size_t {
  kQkvWeight,      ///< [3 d, d]: queries, keys, values
  kQkvBias,        ///< [3 d]
  kEdgeWeight,     ///< [d, 4]: what edge features add to keys and values
  kRiskInWeight,   ///< [32, 4]
  kRiskInBias,     ///< [32]
  kRiskOutWeight,  ///< [heads, 32]
  kRiskOutBias,    ///< [heads]
  kOutWeight,      ///< [d, d]
  kOutBias,        ///< [d]
  kNorm1Weight,    ///< [d]
  kNorm1Bias,      ///< [d]
  kUpWeight,       ///< [4 d, d]
  kUpBias,         ///< [4 d]
  kDownWeight,     ///< [d, 4 d]
  kDownBias,       ///< [d]
  kNorm2Weight,    ///< [d]
  kNorm2Bias,      ///< [d]
  kNumLayerParameters
};
using LayerParameters = std::array<at::Tensor, kNumLayerParameters>;

inline EdgeParameters edge_parameters(const LayerParameters& p) {
  return {p[kEdgeWeight], p[kRiskInWeight], p[kRiskInBias], p[kRiskOutWeight], p[kRiskOutBias]};
}

/// Sizes for which the fused path exists; others take the plain one.
bool fused_layer_fits(std::int64_t hidden_dim, std::int64_t heads);

/// An input known to be of low rank, x = rows * basis + offset, as that of the first layer is: then
/// queries, keys and values are made from `rows`, and no product with the d columns of x is needed.
struct ThinBasis {
  at::Tensor basis;   ///< [R, d], R a multiple of kernels::kWidthUnit
  at::Tensor offset;  ///< [d]
};
struct ThinInput {
  at::Tensor rows;  ///< [N, R] float32
  ThinBasis of;
};

/// Queries, keys and values of a thin input: rows * (basis W^T) + (offset W^T + b). With nine
/// features of a vehicle the product has depth 16 and not d.
struct ThinProjection {
  PackedWeight<float> weight;  ///< [R, 3 d] in panels
  at::Tensor bias;             ///< [3 d]
};

/// Parameters in the layouts that the fused forward pass reads.
template <typename T>
struct PackedLayer {
  PackedWeight<T> qkv;                 ///< empty where the input is thin
  std::optional<ThinProjection> thin;  ///< nothing where it is not
  PackedEdgeParameters edges;
  PackedWeight<T> out;
  PackedWeight<T> up;
  PackedWeight<T> down;
};
/// @param thin of the input; null: it is not known to be thin
template <typename T>
PackedLayer<T> pack_layer(const LayerParameters& parameters, std::int64_t heads,
                          const ThinBasis* thin);

/// What a fused forward pass leaves for its backward pass. Matrices are of the type of the
/// products.
struct LayerTape {
  at::Tensor qkv;          ///< [N, 3 d]
  at::Tensor probability;  ///< [E, heads] float32
  at::Tensor attended;     ///< [N, d]
  at::Tensor xhat1;        ///< [N, d] first LayerNorm before scale and shift
  at::Tensor rstd1;        ///< [N] float32
  at::Tensor up;           ///< [N, 4 d] before GELU, by blocks of rows and panels
  at::Tensor xhat2;        ///< [N, d]
  at::Tensor rstd2;        ///< [N] float32
};

/// The nodes of each group that a layer reads and those that it makes, first of the group's nodes
/// both: up to in_end[g] and out_end[g]. Empty: all.
struct LayerRows {
  std::span<const std::int64_t> in_end;
  std::span<const std::int64_t> out_end;
};

struct LayerInput {
  const at::Tensor& x;  ///< [N, d] float32
  const EdgeIndex& edges;
  const LayerParameters& parameters;
  std::int64_t heads;
  const ThinInput* thin;  ///< how x is made; null: unknown
  LayerRows rows = {};
};

/// @param tape filled unless null; for all rows only
/// @return [N, d] float32; rows that are not made have no value
template <typename T>
at::Tensor layer_forward(const LayerInput& input, const PackedLayer<T>& packed, LayerTape* tape);

struct LayerGradients {
  at::Tensor x;  ///< undefined with a thin input, whose gradient is all in `thin`
  LayerParameters parameters;
  ThinInput thin;  ///< undefined for an input that is not thin
};
template <typename T>
LayerGradients layer_backward(const LayerInput& input, const LayerTape& tape,
                              const at::Tensor& grad_out);

/// Attention over the edges of one graph: qkv [N, 3 d] to [N, d], with a layer's parameters.
using AttentionFunction = std::function<at::Tensor(const at::Tensor&, const EdgeParameters&)>;

/// The same function in ATen operations around an attention, differentiable by autograd. Products
/// are computed in `compute_type`.
at::Tensor layer_reference(const at::Tensor& x, const LayerParameters& parameters,
                           const AttentionFunction& attention, at::ScalarType compute_type);

}  // namespace traffic::model
