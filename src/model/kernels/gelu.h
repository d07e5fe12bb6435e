/// Adds the bias to a tile (a part) of a product and applies GELU, forward and backward. kernels.h
/// explains the arguments.
#pragma once

#include "kernels/simd.h"

namespace traffic::model::kernels::TRAFFIC_ISA {

template <typename T>
void add_bias(const Tile& tile, const float* bias, Rows<T> out, Rows<float> out_float) {
  for (std::int64_t c = 0; c < tile.columns; c += kLanes) {
    const V b = load(bias + c);
    for (std::int64_t r = 0; r < tile.rows; ++r) {
      const V y = load(tile.data + r * tile.stride + c) + b;
      if (out.data != nullptr) store(out.data + r * out.stride + c, y);
      if (out_float.data != nullptr) store(out_float.data + r * out_float.stride + c, y);
    }
  }
}

template <typename T>
void gelu(const Tile& tile, const float* bias, Rows<T> before, Rows<T> after) {
  for (std::int64_t r = 0; r < tile.rows; ++r) {
    const float* in = tile.data + r * tile.stride;
    T* out = after.data + r * after.stride;
    for (std::int64_t c = 0; c < tile.columns; c += kLanes) {
      const V x = load(in + c) + load(bias + c);
      if (before.data != nullptr) store(before.data + r * before.stride + c, x);
      store(out + c, x * normal(x).cdf);
    }
  }
}

template <typename T>
void gelu_backward(const Tile& tile, Rows<const T> before, Rows<T> grad_before, T* after,
                   float* grad_bias) {
  for (std::int64_t c = 0; c < tile.columns; c += kLanes) {
    V total = load(grad_bias + c);
    for (std::int64_t r = 0; r < tile.rows; r += 2) {
      V value[2] = {V{}, V{}};
      const std::int64_t pair = tile.rows - r < 2 ? 1 : 2;
      for (std::int64_t i = 0; i < pair; ++i) {
        const V x = load(before.data + (r + i) * before.stride + c);
        const Normal n = normal(x);
        value[i] = x * n.cdf;
        const V grad = load(tile.data + (r + i) * tile.stride + c) * (n.cdf + x * n.pdf);
        store(grad_before.data + (r + i) * grad_before.stride + c, grad);
        total += grad;
      }
      T* out = after + r * kPanel;
      store_row_pair(out + pair_column(out, c), kPanel, value[0], value[1], pair == 2);
    }
    store(grad_bias + c, total);
  }
}

}  // namespace traffic::model::kernels::TRAFFIC_ISA
