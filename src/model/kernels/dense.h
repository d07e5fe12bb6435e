/// Products of small matrices of any size, and the operations between two products. The matrices
/// need not be packed, and no code is generated at run time.
#pragma once

#include "kernels/pack.h"

namespace traffic::model::kernels::TRAFFIC_ISA {

/// Sixteen elements, of which only the first `count` are read; the others are zero.
TRAFFIC_INLINE V load_first(const float* p, std::int64_t count) {
  float lane[kLanes] = {};
  __builtin_memcpy(lane, p, static_cast<std::size_t>(count) * sizeof(float));
  return load(lane);
}

/// Computes `Count` rows and 16 * Vectors columns of c. The sums stay in registers over the whole
/// depth. The result of a row does not depend on the other rows.
template <int Count, int Vectors>
TRAFFIC_INLINE void product_block(const Product& p, std::int64_t row, std::int64_t column) {
  const float* a = p.a + row * p.a_row_stride;
  const float* b = p.b + column;
  V sums[Count][Vectors] = {};
  for (std::int64_t k = 0; k < p.depth; ++k, a += p.a_depth_stride, b += p.b_stride) {
    V right[Vectors];
#pragma GCC unroll 4
    for (int v = 0; v < Vectors; ++v) right[v] = load(b + v * kLanes);
#pragma GCC unroll 8
    for (int r = 0; r < Count; ++r) {
      const V left = splat(a[r * p.a_row_stride]);
#pragma GCC unroll 4
      for (int v = 0; v < Vectors; ++v) sums[r][v] += left * right[v];
    }
  }
  float* c = p.c + row * p.c_stride + column;
  for (int r = 0; r < Count; ++r) {
    for (int v = 0; v < Vectors; ++v) store(c + r * p.c_stride + v * kLanes, sums[r][v]);
  }
}

template <int Vectors>
void product_columns(const Product& p, std::int64_t column) {
  // As many rows as possible, provided that enough registers are left for the operands.
  constexpr int kTogether = kNativeLanes == 16 ? 6 : 2;
  std::int64_t row = 0;
  for (; row + kTogether <= p.rows; row += kTogether) {
    product_block<kTogether, Vectors>(p, row, column);
  }
  for (; row < p.rows; ++row) product_block<1, Vectors>(p, row, column);
}

/// The product for fewer than sixteen columns.
inline void product_of_narrow(const Product& p) {
  for (std::int64_t r = 0; r < p.rows; ++r) {
    V sums{};
    const float* a = p.a + r * p.a_row_stride;
    for (std::int64_t k = 0; k < p.depth; ++k) {
      sums += splat(a[k * p.a_depth_stride]) * load_first(p.b + k * p.b_stride, p.columns);
    }
    store_part(p.c + r * p.c_stride, sums, p.columns);
  }
}

inline void product(const Product& p) {
  if (p.columns < kLanes) return product_of_narrow(p);
  std::int64_t column = 0;
  for (; column + 4 * kLanes <= p.columns; column += 4 * kLanes) product_columns<4>(p, column);
  for (; column + 2 * kLanes <= p.columns; column += 2 * kLanes) product_columns<2>(p, column);
  for (; column + kLanes <= p.columns; column += kLanes) product_columns<1>(p, column);
  // The last vector of columns overlaps with columns that were computed before; they get the same
  // values again.
  if (column < p.columns) product_columns<1>(p, p.columns - kLanes);
}

/// out[c][r] = in[r][c], for any size; rows of `out` are padded with zeros to a multiple of
/// sixteen.
inline void transpose_all(Rows<const float> in, std::int64_t rows, std::int64_t columns,
                          Rows<float> out) {
  for (std::int64_t r = 0; r < rows; r += kLanes) {
    for (std::int64_t c = 0; c < columns; c += kLanes) {
      const std::int64_t width = columns - c < kLanes ? columns - c : kLanes;
      V m[16];
      for (int i = 0; i < 16; ++i) {
        const float* from = in.data + (r + i) * in.stride + c;
        if (r + i >= rows) {
          m[i] = V{};
        } else {
          m[i] = width == kLanes ? load(from) : load_first(from, width);
        }
      }
      transpose_16(m);
      for (std::int64_t i = 0; i < width; ++i) store(out.data + (c + i) * out.stride + r, m[i]);
    }
  }
}

inline void tanh_all(float* x, std::int64_t count) {
  std::int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) store(x + i, hyperbolic_tangent(load(x + i)));
  if (i < count) store_part(x + i, hyperbolic_tangent(load_first(x + i, count - i)), count - i);
}

inline void tanh_backward_all(const float* grad, const float* y, std::int64_t count, float* out) {
  for (std::int64_t i = 0; i < count; ++i) out[i] = grad[i] * (1.0F - y[i] * y[i]);
}

}  // namespace traffic::model::kernels::TRAFFIC_ISA
