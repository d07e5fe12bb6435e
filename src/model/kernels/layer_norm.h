/// Layer normalisation of rows, forward and backward, together with the sum of product, bias and
/// residual before it. kernels.h explains the arguments.
#pragma once

#include "kernels/simd.h"

namespace traffic::model::kernels::TRAFFIC_ISA {

template <typename T>
void layer_norm(const LayerNorm<T>& a) {
  const float inverse_width = 1.0F / static_cast<float>(a.width);
  for (std::int64_t r = 0; r < a.rows; ++r) {
    const std::int64_t row = r * a.width;
    float* out = a.out + row;
    V total = V{};
    for (std::int64_t c = 0; c < a.width; c += kLanes) {
      V y = load(a.product + row + c);
      if (a.bias != nullptr) y += load(a.bias + c);
      if (a.residual != nullptr) y += load(a.residual + row + c);
      store(out + c, y);
      total += y;
    }
    const float mean = sum(total) * inverse_width;
    V squares = V{};
    for (std::int64_t c = 0; c < a.width; c += kLanes) {
      const V y = load(out + c) - mean;
      squares += y * y;
    }
    const float rstd = 1.0F / __builtin_sqrtf(sum(squares) * inverse_width + a.eps);
    if (a.rstd != nullptr) a.rstd[r] = rstd;
    for (std::int64_t c = 0; c < a.width; c += kLanes) {
      const V xhat = (load(out + c) - mean) * rstd;
      const V y = xhat * load(a.gamma + c) + load(a.beta + c);
      if (a.xhat != nullptr) store(a.xhat + row + c, xhat);
      if (a.out_operand.data != nullptr)
        store(a.out_operand.data + r * a.out_operand.stride + c, y);
      store(out + c, y);
    }
  }
}

template <typename T>
void layer_norm_backward(const LayerNormBackward<T>& a) {
  const float inverse_width = 1.0F / static_cast<float>(a.width);
  for (std::int64_t r = 0; r < a.rows; ++r) {
    const std::int64_t row = r * a.width;
    V total = V{};
    V along = V{};
    for (std::int64_t c = 0; c < a.width; c += kLanes) {
      const V grad = load(a.grad_out + row + c);
      const V xhat = load(a.xhat + row + c);
      const V scaled = grad * load(a.gamma + c);
      total += scaled;
      along += scaled * xhat;
      store(a.grad_gamma + c, load(a.grad_gamma + c) + grad * xhat);
      store(a.grad_beta + c, load(a.grad_beta + c) + grad);
    }
    const float mean = sum(total) * inverse_width;
    const float slope = sum(along) * inverse_width;
    const float rstd = a.rstd[r];
    for (std::int64_t c = 0; c < a.width; c += kLanes) {
      const V scaled = load(a.grad_out + row + c) * load(a.gamma + c);
      const V grad = (scaled - mean - load(a.xhat + row + c) * slope) * rstd;
      store(a.grad + row + c, grad);
      if (a.grad_operand.data != nullptr)
        store(a.grad_operand.data + r * a.grad_operand.stride + c, grad);
      store(a.grad_bias + c, load(a.grad_bias + c) + grad);
    }
  }
}

template <typename T>
void scale_shift_pairs(const T* xhat, const float* gamma, const float* beta, std::int64_t rows,
                       std::int64_t width, T* out) {
  for (std::int64_t r = 0; r < rows; r += 2) {
    const T* first = xhat + r * width;
    T* pair = out + r * width;
    for (std::int64_t c = 0; c < width; c += kLanes) {
      const V g = load(gamma + c);
      const V b = load(beta + c);
      const bool both = r + 1 < rows;
      const V second = both ? load(first + width + c) * g + b : V{};
      store_row_pair(pair + pair_column(pair, c), width, load(first + c) * g + b, second, both);
    }
  }
}

}  // namespace traffic::model::kernels::TRAFFIC_ISA
