/// The risk bias, a small MLP of the edge features that shifts the scores of attention. Sixteen
/// edges are computed at a time, each in one lane of the vectors.
#pragma once

#include "kernels/shuffle.h"

namespace traffic::model::kernels::TRAFFIC_ISA {

/// Loads the features of up to sixteen edges, one vector per feature. Lanes after the last edge are
/// 0.
TRAFFIC_INLINE void load_features(const float* features, std::int64_t count,
                                  V (&out)[kEdgeFeatures]) {
  float by_feature[kEdgeFeatures][kLanes] = {};
  for (std::int64_t e = 0; e < count; ++e) {
    for (int f = 0; f < kEdgeFeatures; ++f) by_feature[f][e] = features[e * kEdgeFeatures + f];
  }
  for (int f = 0; f < kEdgeFeatures; ++f) out[f] = load(by_feature[f]);
}

/// Hidden unit j of sixteen edges.
TRAFFIC_INLINE V risk_hidden(const AttentionEdges& edges, const V (&features)[kEdgeFeatures],
                             int j) {
  V x = splat(edges.risk_in_bias[j]);
  for (int f = 0; f < kEdgeFeatures; ++f) x += features[f] * edges.risk_in[f * kRiskHidden + j];
  return maximum(x, V{});
}

/// bias[e - first][h] for edges [first, last), kMaxHeads floats per edge, zero after the last head.
template <int Lanes>
void risk_bias(const AttentionEdges& edges, std::int64_t first, std::int64_t last, float* bias) {
  for (std::int64_t e = first; e < last; e += kLanes) {
    const std::int64_t count = last - e < kLanes ? last - e : kLanes;
    V features[kEdgeFeatures];
    load_features(edges.edge_features + e * kEdgeFeatures, count, features);
    V head[16] = {};
    for (int h = 0; h < Lanes; ++h) head[h] = splat(edges.risk_out_bias[h]);
    for (int j = 0; j < kRiskHidden; ++j) {
      const V hidden = risk_hidden(edges, features, j);
      for (int h = 0; h < Lanes; ++h) head[h] += hidden * edges.risk_out[j * kMaxHeads + h];
    }
    transpose_16(head);
    for (int i = 0; i < count; ++i) store(bias + (e - first + i) * kMaxHeads, head[i]);
  }
}

/// Adds what the edges [first, last) contribute to the gradients of the MLP.
/// @param grad_scores gradients of the scores, kMaxHeads floats per edge
template <int Lanes>
void risk_backward(const AttentionEdges& edges, const AttentionSums& sums, std::int64_t first,
                   std::int64_t last, const float* grad_scores) {
  constexpr int kTerms =
      Lanes + kEdgeFeatures + 1;  // sums for a hidden unit: heads, features, bias
  V total[kRiskHidden][kTerms] = {};
  V bias = V{};
  for (std::int64_t e = first; e < last; e += kLanes) {
    const std::int64_t count = last - e < kLanes ? last - e : kLanes;
    V features[kEdgeFeatures];
    load_features(edges.edge_features + e * kEdgeFeatures, count, features);
    V grad[16] = {};
    for (int i = 0; i < count; ++i) {
      grad[i] = load(grad_scores + (e - first + i) * kMaxHeads);
      bias += grad[i];
    }
    transpose_16(grad);
    for (int j = 0; j < kRiskHidden; ++j) {
      const V hidden = risk_hidden(edges, features, j);
      V grad_hidden = V{};
      for (int h = 0; h < Lanes; ++h) {
        grad_hidden += grad[h] * edges.risk_out[j * kMaxHeads + h];
        total[j][h] += grad[h] * hidden;
      }
      grad_hidden = where_positive(hidden, grad_hidden, V{});
      for (int f = 0; f < kEdgeFeatures; ++f) total[j][Lanes + f] += grad_hidden * features[f];
      total[j][Lanes + kEdgeFeatures] += grad_hidden;
    }
  }
  store(sums.risk_out_bias, load(sums.risk_out_bias) + bias);
  for (int j = 0; j < kRiskHidden; ++j) {
    for (int h = 0; h < Lanes && h < edges.heads; ++h)
      sums.risk_out[h * kRiskHidden + j] += sum(total[j][h]);
    for (int f = 0; f < kEdgeFeatures; ++f)
      sums.risk_in[f * kRiskHidden + j] += sum(total[j][Lanes + f]);
    sums.risk_in_bias[j] += sum(total[j][Lanes + kEdgeFeatures]);
  }
}

}  // namespace traffic::model::kernels::TRAFFIC_ISA
