/// Attention over the incoming edges of each node, on the CPU. One vector of sixteen lanes contains
/// the scores (or probabilities) of all heads of an edge, head h in lane h. Keys and values are
/// read row by row from the neighbours, so no [E, d] matrix is formed.
///
// clang-format off
/// For each edge e from j to i with features f[e]:
///   score[e, h] = scale * q[i, h] . (k[j, h] + W_h f[e]) + risk[e, h]
///   out[i, h]   = sum over e of softmax(score)[e, h] * (v[j, h] + W_h f[e])
// clang-format on
///
/// W_h f is never formed: q . (W f) = (q W) . f, and the sum of a (W f) is W (sum of a f).
#pragma once

#include "kernels/risk.h"
#include "kernels/simd.h"

namespace traffic::model::kernels::TRAFFIC_ISA {

/// Sizes of the heads. `Lanes` is 4, 8 or 16 and not smaller than the number of heads. Vectors > 0
/// means that there are exactly Lanes heads of Vectors * 16 channels, so the compiler knows all
/// sizes. Vectors == 0 means that the sizes are known only at run time.
template <int Lanes, int Vectors>
struct Heads {
  explicit Heads(const AttentionEdges& edges)
      : heads_(edges.heads), vectors_(edges.head_dim / kLanes) {}
  [[nodiscard]] std::int64_t heads() const { return Vectors > 0 ? Lanes : heads_; }
  [[nodiscard]] std::int64_t vectors() const { return Vectors > 0 ? Vectors : vectors_; }
  [[nodiscard]] std::int64_t width() const { return heads() * vectors() * kLanes; }

  std::int64_t heads_;
  std::int64_t vectors_;
};

/// Returns a vector whose lane h is the dot product of head h of the rows a and b.
template <int Lanes, int Vectors>
TRAFFIC_INLINE V head_dots(Heads<Lanes, Vectors> shape, const float* a, const float* b) {
  V m[Lanes] = {};
  for (std::int64_t h = 0; h < shape.heads(); ++h) {
    V total = load(a) * load(b);
    for (std::int64_t v = 1; v < shape.vectors(); ++v)
      total += load(a + v * kLanes) * load(b + v * kLanes);
    m[h] = total;
    a += shape.vectors() * kLanes;
    b += shape.vectors() * kLanes;
  }
  return sum_each<Lanes>(m);
}

/// Number of heads that weighted_rows() processes together, so that their sums stay in registers
/// while it goes over the edges.
template <int Lanes, int Vectors>
inline constexpr int kHeadsAtOnce =
    Vectors > 0 && Vectors <= 2 ? (8 / (static_cast<int>(kLanes) / kNativeLanes) / Vectors < Lanes
                                       ? 8 / (static_cast<int>(kLanes) / kNativeLanes) / Vectors
                                       : Lanes)
                                : 1;

/// out = factor * (sum over the incoming edges of weight[e][h] * the neighbour's row, plus the
/// share of the edge features). `weights` has kMaxHeads floats per edge, `shares` kMaxHeads floats
/// per feature.
template <int Lanes, int Vectors>
TRAFFIC_INLINE void weighted_rows(Heads<Lanes, Vectors> shape, const AttentionEdges& edges,
                                  const float* rows, std::int64_t base, std::int64_t first,
                                  std::int64_t last, const float* weights, const float* shares,
                                  float factor, float* out) {
  constexpr int kHeads = kHeadsAtOnce<Lanes, Vectors>;
  constexpr int kVectors = Vectors > 0 ? Vectors : 1;
  const std::int64_t width = shape.width();
  const std::int64_t steps = Vectors > 0 ? 1 : shape.vectors();
  for (std::int64_t h = 0; h < shape.heads(); h += kHeads) {
    for (std::int64_t s = 0; s < steps; ++s) {
      const std::int64_t c = (h * shape.vectors() + s) * kLanes;
      V total[kHeads][kVectors] = {};
      for (int f = 0; f < kEdgeFeatures; ++f) {
        for (int i = 0; i < kHeads; ++i) {
          const float share = shares[f * kMaxHeads + h + i];
          for (int v = 0; v < kVectors; ++v) {
            total[i][v] +=
                load(edges.edge_weight + f * width + c + (i * kVectors + v) * kLanes) * share;
          }
        }
      }
      for (std::int64_t e = first; e < last; ++e) {
        const float* row = rows + (edges.edge_src[e] - base) * 3 * width + c;
        const float* weight = weights + (e - first) * kMaxHeads + h;
        for (int i = 0; i < kHeads; ++i) {
          for (int v = 0; v < kVectors; ++v)
            total[i][v] += load(row + (i * kVectors + v) * kLanes) * weight[i];
        }
      }
      for (int i = 0; i < kHeads; ++i) {
        for (int v = 0; v < kVectors; ++v)
          store(out + c + (i * kVectors + v) * kLanes, total[i][v] * factor);
      }
    }
  }
}

TRAFFIC_INLINE void store_heads(float* out, V v, std::int64_t heads) {
  float lane[kMaxHeads];
  store(lane, v);
  __builtin_memcpy(out, lane, static_cast<std::size_t>(heads) * sizeof(float));
}
TRAFFIC_INLINE V load_heads(const float* in, std::int64_t heads) {
  float lane[kMaxHeads] = {};
  __builtin_memcpy(lane, in, static_cast<std::size_t>(heads) * sizeof(float));
  return load(lane);
}

/// Computes the outputs of the nodes [first_node, last_node).
/// @param scratch kMaxHeads floats for each incoming edge of these nodes
template <int Lanes, int Vectors>
void attend(const Attention& a, std::int64_t first_node, std::int64_t last_node, float* scratch) {
  const AttentionEdges& edges = a.edges;
  const Heads<Lanes, Vectors> shape(edges);
  const std::int64_t width = shape.width();
  const std::int64_t first_edge = edges.edge_ptr[first_node];
  risk_bias<Lanes>(edges, first_edge, edges.edge_ptr[last_node], scratch);
  for (std::int64_t i = first_node; i < last_node; ++i) {
    const std::int64_t first = edges.edge_ptr[i];
    const std::int64_t last = edges.edge_ptr[i + 1];
    float* weights = scratch + (first - first_edge) * kMaxHeads;
    const float* query = a.qkv + (i - a.base) * 3 * width;
    V along[kEdgeFeatures];
    for (int f = 0; f < kEdgeFeatures; ++f)
      along[f] = head_dots(shape, query, edges.edge_weight + f * width);
    V highest = splat(-3e38F);
    for (std::int64_t e = first; e < last; ++e) {
      const float* features = edges.edge_features + e * kEdgeFeatures;
      float* weight = weights + (e - first) * kMaxHeads;
      V score = head_dots(shape, query, a.qkv + (edges.edge_src[e] - a.base) * 3 * width + width);
      for (int f = 0; f < kEdgeFeatures; ++f) score += along[f] * features[f];
      score = score * edges.scale + load(weight);
      highest = maximum(highest, score);
      store(weight, score);
    }
    V total = V{};
    V share[kEdgeFeatures] = {};
    for (std::int64_t e = first; e < last; ++e) {
      float* weight = weights + (e - first) * kMaxHeads;
      const V p = exponential(load(weight) - highest);
      total += p;
      for (int f = 0; f < kEdgeFeatures; ++f)
        share[f] += p * edges.edge_features[e * kEdgeFeatures + f];
      store(weight, p);
    }
    const V inverse = 1.0F / total;
    for (std::int64_t e = first; e < last; ++e) {
      float* weight = weights + (e - first) * kMaxHeads;
      const V p = load(weight) * inverse;
      store(weight, p);
      if (a.probability != nullptr)
        store_heads(a.probability + e * shape.heads(), p, shape.heads());
    }
    float shares[kEdgeFeatures * kMaxHeads];
    for (int f = 0; f < kEdgeFeatures; ++f)
      store(shares + f * kMaxHeads, first < last ? share[f] * inverse : V{});
    weighted_rows(shape, edges, a.qkv + 2 * width, a.base, first, last, weights, shares, 1.0F,
                  a.out + (i - a.base) * width);
  }
}

}  // namespace traffic::model::kernels::TRAFFIC_ISA
