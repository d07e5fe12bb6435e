/// Parts of the backward pass of an encoder layer (encoder_layer_backward.cpp): the division of the
/// groups of nodes into chunks, the buffers of a chunk, and the sums of each group.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/ops/zeros.h>

#include <cstdint>
#include <type_traits>
#include <vector>

#include "edge_index.h"
#include "encoder_layer.h"
#include "gemm.h"
#include "packed_weight.h"

namespace traffic::model {

/// A group of nodes that no edge connects with other groups: the nodes [first, last).
struct Group {
  std::int64_t index;  ///< number of the group in EdgeIndex::group_ptr
  std::int64_t first;
  std::int64_t last;
  std::int64_t offset;  ///< row of the first node in the chunk's buffers
};

/// Groups that are processed together.
struct ChunkPlan {
  std::vector<Group> groups;
  /// Rows of the buffers: the sum of the groups' rows, each rounded up to a depth that products
  /// accept.
  std::int64_t rows = 0;
};

/// Divides the groups into chunks. Except for the last one, a chunk has just enough groups to reach
/// kChunkRows rows.
template <typename T>
std::vector<ChunkPlan> plan_chunks(const EdgeIndex& index) {
  std::vector<ChunkPlan> chunks;
  for (std::int64_t g = 0; g < index.num_groups(); ++g) {
    if (chunks.empty() || chunks.back().rows >= kChunkRows) chunks.emplace_back();
    ChunkPlan& chunk = chunks.back();
    const auto i = static_cast<std::size_t>(g);
    chunk.groups.push_back({g, index.group_ptr[i], index.group_ptr[i + 1], chunk.rows});
    chunk.rows += product_depth<T>(index.group_ptr[i + 1] - index.group_ptr[i]);
  }
  return chunks;
}

/// Gradients of one-dimensional parameters, summed separately for each group, so that the total
/// does not depend on the number of threads.
class VectorSums {
 public:
  VectorSums(std::int64_t groups, std::int64_t width)
      : width_(width), sums_(at::zeros({groups, kLength * width})) {}

  struct Parts {
    float *norm2_weight, *norm2_bias, *down_bias, *norm1_weight, *norm1_bias, *out_bias, *up_bias,
        *qkv_bias;
  };
  [[nodiscard]] Parts group(std::int64_t g) const {
    float* p = data<float>(sums_) + g * sums_.size(1);
    const std::int64_t w = width_;
    return {p, p + w, p + 2 * w, p + 3 * w, p + 4 * w, p + 5 * w, p + 6 * w, p + 10 * w};
  }
  void write_total(LayerParameters& grads) const {
    const std::int64_t w = width_;
    const auto parts = sums_.sum(0).split_with_sizes({w, w, w, w, w, w, 4 * w, 3 * w});
    constexpr LayerParameter kOrder[] = {kNorm2Weight, kNorm2Bias, kDownBias, kNorm1Weight,
                                         kNorm1Bias,   kOutBias,   kUpBias,   kQkvBias};
    for (std::size_t i = 0; i < parts.size(); ++i) grads[kOrder[i]] = parts[i];
  }

 private:
  static constexpr std::int64_t kLength = 13;  ///< length of all vectors together, in widths
  std::int64_t width_;
  at::Tensor sums_;
};

/// The buffers of a chunk. They contain both factors of the products for the gradients of the four
/// weights: the transposed gradients of the linear layers' outputs, and the inputs of these layers
/// as right-hand sides. Where a group has padding, the gradients are zero.
template <typename T>
struct Chunk {
  Chunk(std::int64_t rows_, std::int64_t width, Scratch& scratch)
      : rows(rows_), stride(padded(rows)) {
    constexpr bool kPacked = !std::is_same_v<T, float>;
    grad_down = scratch.take<T>(width * stride);
    grad_up = scratch.take<T>(4 * width * stride);
    grad_out = scratch.take<T>(width * stride);
    grad_qkv = scratch.take<T>(3 * width * stride);
    activated = scratch.take<T>(rows * 4 * width);
    normed = scratch.take<T>(rows * width);
    attended = kPacked ? scratch.take<T>(rows * width) : nullptr;
    x = kPacked ? scratch.take<T>(rows * width) : nullptr;
  }

  std::int64_t rows;
  std::int64_t stride;  ///< stride of the transposed gradients
  T* grad_down;         ///< [d, rows]
  T* grad_up;           ///< [4 d, rows]
  T* grad_out;          ///< [d, rows]
  T* grad_qkv;          ///< [3 d, rows]
  T* activated;         ///< [4 d / kPanel panels, rows, kPanel]
  T* normed;            ///< [rows, d]
  T* attended;          ///< [rows, d]; null for float, for which the tape contains it
  T* x;                 ///< [rows, d]; null for float, for which it is the layer's input
};

}  // namespace traffic::model
