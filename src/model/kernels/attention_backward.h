/// Backward pass of attention.h for a group of nodes that no edge leaves or enters. It has three
/// loops. The first one goes over the nodes with their incoming edges, and computes the gradients
/// of scores and queries. The second one goes over the edges, and computes the gradients of the
/// risk bias. The third one goes over the nodes with their outgoing edges, and computes the
/// gradients of keys and values.
#pragma once

#include "kernels/attention.h"

namespace traffic::model::kernels::TRAFFIC_ISA {

/// Adds what one node contributes to the gradient of the edge weight of each feature f:
///   scale * query * (sum of grad_score * f) + grad_out * (sum of probability * f)
/// @param score_shares, value_shares the two sums over the incoming edges, by feature and head
template <int Lanes, int Vectors>
TRAFFIC_INLINE void edge_weight_backward(Heads<Lanes, Vectors> shape, const AttentionEdges& edges,
                                         const float* query, const float* grad_out,
                                         const float* score_shares, const float* value_shares,
                                         float* grad) {
  const std::int64_t width = shape.width();
  for (std::int64_t h = 0; h < shape.heads(); ++h) {
    for (std::int64_t v = 0; v < shape.vectors(); ++v) {
      const std::int64_t c = (h * shape.vectors() + v) * kLanes;
      const V q = load(query + c) * edges.scale;
      const V g = load(grad_out + c);
      for (int f = 0; f < kEdgeFeatures; ++f) {
        float* out = grad + f * width + c;
        store(out, load(out) + q * score_shares[f * kMaxHeads + h] +
                       g * value_shares[f * kMaxHeads + h]);
      }
    }
  }
}

/// The first loop. Writes the gradients of the scores to `scratch`, kMaxHeads floats per edge.
template <int Lanes, int Vectors>
void attend_backward(const AttentionBackward& a, const AttentionSums& sums, std::int64_t first_node,
                     std::int64_t last_node, float* scratch) {
  const AttentionEdges& edges = a.edges;
  const Heads<Lanes, Vectors> shape(edges);
  const std::int64_t width = shape.width();
  const std::int64_t first_edge = edges.edge_ptr[first_node];
  for (std::int64_t i = first_node; i < last_node; ++i) {
    const std::int64_t first = edges.edge_ptr[i];
    const std::int64_t last = edges.edge_ptr[i + 1];
    float* grads = scratch + (first - first_edge) * kMaxHeads;
    const float* query = a.qkv + (i - a.base) * 3 * width;
    const float* grad_out = a.grad_out + (i - a.base) * width;
    V along[kEdgeFeatures];
    for (int f = 0; f < kEdgeFeatures; ++f)
      along[f] = head_dots(shape, grad_out, edges.edge_weight + f * width);
    V expected = V{};  // sum of probability * its gradient
    V value_share[kEdgeFeatures] = {};
    for (std::int64_t e = first; e < last; ++e) {
      const float* features = edges.edge_features + e * kEdgeFeatures;
      const V p = load_heads(a.probability + e * shape.heads(), shape.heads());
      V grad =
          head_dots(shape, grad_out, a.qkv + (edges.edge_src[e] - a.base) * 3 * width + 2 * width);
      for (int f = 0; f < kEdgeFeatures; ++f) {
        grad += along[f] * features[f];
        value_share[f] += p * features[f];
      }
      expected += p * grad;
      store(grads + (e - first) * kMaxHeads, grad);
    }
    V score_share[kEdgeFeatures] = {};
    for (std::int64_t e = first; e < last; ++e) {
      const float* features = edges.edge_features + e * kEdgeFeatures;
      float* grad = grads + (e - first) * kMaxHeads;
      const V score =
          load_heads(a.probability + e * shape.heads(), shape.heads()) * (load(grad) - expected);
      for (int f = 0; f < kEdgeFeatures; ++f) score_share[f] += score * features[f];
      store(grad, score);
    }
    float score_shares[kEdgeFeatures * kMaxHeads];
    float value_shares[kEdgeFeatures * kMaxHeads];
    for (int f = 0; f < kEdgeFeatures; ++f) {
      store(score_shares + f * kMaxHeads, score_share[f]);
      store(value_shares + f * kMaxHeads, value_share[f]);
    }
    weighted_rows(shape, edges, a.qkv + width, a.base, first, last, grads, score_shares,
                  edges.scale, a.grad_qkv + (i - a.base) * 3 * width);
    edge_weight_backward(shape, edges, query, grad_out, score_shares, value_shares,
                         sums.edge_weight);
  }
}

/// The third loop. The gradient of a key is scale * (sum of grad_score * query), that of a value
/// the sum of probability * grad_out.
template <int Lanes, int Vectors>
void sources_backward(const AttentionBackward& a, std::int64_t first_node, std::int64_t last_node,
                      const float* grad_scores) {
  constexpr int kHeads = kHeadsAtOnce<Lanes, Vectors>;
  constexpr int kVectors = Vectors > 0 ? Vectors : 1;
  const AttentionEdges& edges = a.edges;
  const Heads<Lanes, Vectors> shape(edges);
  const std::int64_t width = shape.width();
  const std::int64_t steps = Vectors > 0 ? 1 : shape.vectors();
  const std::int64_t first_edge = edges.edge_ptr[first_node];
  for (std::int64_t j = first_node; j < last_node; ++j) {
    float* grad_key = a.grad_qkv + (j - a.base) * 3 * width + width;
    for (std::int64_t h = 0; h < shape.heads(); h += kHeads) {
      for (std::int64_t s = 0; s < steps; ++s) {
        const std::int64_t c = (h * shape.vectors() + s) * kLanes;
        V key[kHeads][kVectors] = {};
        V value[kHeads][kVectors] = {};
        for (std::int64_t o = a.out_ptr[j]; o < a.out_ptr[j + 1]; ++o) {
          const std::int64_t e = a.out_edge[o];
          const std::int64_t node = a.edge_dst[e] - a.base;
          const float* query = a.qkv + node * 3 * width + c;
          const float* grad_out = a.grad_out + node * width + c;
          const float* score = grad_scores + (e - first_edge) * kMaxHeads + h;
          const float* probability = a.probability + e * shape.heads() + h;
          for (int i = 0; i < kHeads; ++i) {
            for (int v = 0; v < kVectors; ++v) {
              key[i][v] += load(query + (i * kVectors + v) * kLanes) * score[i];
              value[i][v] += load(grad_out + (i * kVectors + v) * kLanes) * probability[i];
            }
          }
        }
        for (int i = 0; i < kHeads; ++i) {
          for (int v = 0; v < kVectors; ++v) {
            store(grad_key + c + (i * kVectors + v) * kLanes, key[i][v] * edges.scale);
            store(grad_key + width + c + (i * kVectors + v) * kLanes, value[i][v]);
          }
        }
      }
    }
  }
}

template <int Lanes, int Vectors>
void attention_backward(const AttentionBackward& a, const AttentionSums& sums,
                        std::int64_t first_node, std::int64_t last_node, float* scratch) {
  attend_backward<Lanes, Vectors>(a, sums, first_node, last_node, scratch);
  risk_backward<Lanes>(a.edges, sums, a.edges.edge_ptr[first_node], a.edges.edge_ptr[last_node],
                       scratch);
  sources_backward<Lanes, Vectors>(a, first_node, last_node, scratch);
}

}  // namespace traffic::model::kernels::TRAFFIC_ISA
