// A layer of the graph encoder in ATen operations, for all devices and types.
#include <ATen/ATen.h>

#include "encoder_layer.h"

namespace traffic::model {

at::Tensor layer_reference(const at::Tensor& x, const LayerParameters& p,
                           const AttentionFunction& attention, at::ScalarType compute_type) {
  const auto linear = [&](const at::Tensor& in, LayerParameter weight, LayerParameter bias) {
    return at::linear(in.to(compute_type), p[weight].to(compute_type), p[bias].to(compute_type));
  };
  const auto norm = [&](const at::Tensor& in, LayerParameter weight, LayerParameter bias) {
    return at::layer_norm(in, {in.size(1)}, p[weight], p[bias], kNormEps);
  };
  const at::Tensor attended = attention(linear(x, kQkvWeight, kQkvBias), edge_parameters(p));
  const at::Tensor normed =
      norm(x + linear(attended, kOutWeight, kOutBias), kNorm1Weight, kNorm1Bias);
  const at::Tensor inner = at::gelu(linear(normed, kUpWeight, kUpBias));
  return norm(normed + linear(inner, kDownWeight, kDownBias), kNorm2Weight, kNorm2Bias);
}

}  // namespace traffic::model
