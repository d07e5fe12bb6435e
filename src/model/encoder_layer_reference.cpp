#include <ATen/ATen.h>

#include "encoder_layer.h"
#include "traffic/model/segment_attention.h"

namespace traffic::model {

at::Tensor layer_reference(const at::Tensor& x, const GraphBatch& graph, const LayerParameters& p,
                           std::int64_t heads, at::ScalarType compute_type) {
  const auto linear = [&](const at::Tensor& in, LayerParameter weight, LayerParameter bias) {
    return at::linear(in.to(compute_type), p[weight].to(compute_type), p[bias].to(compute_type));
  };
  const auto norm = [&](const at::Tensor& in, LayerParameter weight, LayerParameter bias) {
    return at::layer_norm(in, {in.size(1)}, p[weight], p[bias], kNormEps);
  };
  const at::Tensor attended = segment_attention_reference(linear(x, kQkvWeight, kQkvBias), graph,
                                                          edge_parameters(p), heads);
  const at::Tensor normed =
      norm(x + linear(attended, kOutWeight, kOutBias), kNorm1Weight, kNorm1Bias);
  const at::Tensor inner = at::gelu(linear(normed, kUpWeight, kUpBias));
  return norm(normed + linear(inner, kDownWeight, kDownBias), kNorm2Weight, kNorm2Bias);
}

}  // namespace traffic::model
