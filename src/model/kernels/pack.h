/// Converts matrices to the layouts that the matrix products read (gemm.h, packed_weight.h).
#pragma once

#include "kernels/shuffle.h"

namespace traffic::model::kernels::TRAFFIC_ISA {

template <typename T>
void convert(const Tile& in, Rows<T> out) {
  for (std::int64_t r = 0; r < in.rows; ++r) {
    for (std::int64_t c = 0; c < in.columns; c += kLanes) {
      store(out.data + r * out.stride + c, load(in.data + r * in.stride + c));
    }
  }
}

template <typename T>
void convert_to_float(Rows<const T> in, std::int64_t rows, std::int64_t columns, float* out) {
  for (std::int64_t r = 0; r < rows; ++r) {
    for (std::int64_t c = 0; c < columns; c += kLanes) {
      store(out + r * columns + c, load(in.data + r * in.stride + c));
    }
  }
}

inline void pack_weight_rows(const float* in, std::int64_t stride, std::int64_t depth, float* out) {
  for (std::int64_t k = 0; k < depth; k += kLanes) {
    V m[16];
    for (int n = 0; n < 16; ++n) m[n] = load(in + n * stride + k);
    transpose_16(m);
    for (int i = 0; i < 16; ++i) store(out + (k + i) * kPanel, m[i]);
  }
}

/// Rounds 32 floats to bfloat16. Each 32-bit lane of the result contains two consecutive ones.
TRAFFIC_INLINE V bf16_pairs(const float* in) {
  Bf16 half[32];
  store(half, load(in));
  store(half + kLanes, load(in + kLanes));
  return load_as<V>(half);
}

inline void pack_weight_rows(const float* in, std::int64_t stride, std::int64_t depth, Bf16* out) {
  for (std::int64_t k = 0; k < depth; k += 2 * kLanes) {
    const bool whole = depth - k >= 2 * kLanes;
    V m[16];
    for (int n = 0; n < 16; ++n) {
      float last[32] = {};
      if (!whole) store(last, load(in + n * stride + k));
      m[n] = bf16_pairs(whole ? in + n * stride + k : last);
    }
    transpose_16(m);
    for (int i = 0; i < (whole ? 16 : 8); ++i) store_as(out + (k / 2 + i) * kPanel * 2, m[i]);
  }
}

template <typename S, typename T>
void pack_pairs(Rows<const S> in, std::int64_t rows, std::int64_t columns, Rows<T> out) {
  for (std::int64_t r = 0; r < rows; r += 2) {
    const S* first = in.data + r * in.stride;
    T* pair = out.data + r * out.stride;
    for (std::int64_t c = 0; c < columns; c += kLanes) {
      const bool both = r + 1 < rows;
      const V second = both ? load(first + in.stride + c) : V{};
      store_row_pair(pair + pair_column(pair, c), out.stride, load(first + c), second, both);
    }
  }
}

inline void column_sums(Rows<const float> in, std::int64_t rows, std::int64_t columns,
                        float* total) {
  for (std::int64_t c = 0; c < columns; c += kLanes) {
    V sums = load(total + c);
    for (std::int64_t r = 0; r < rows; ++r) sums += load(in.data + r * in.stride + c);
    store(total + c, sums);
  }
}

/// Stores the first `count` of sixteen 32-bit elements.
template <typename T>
TRAFFIC_INLINE void store_part(T* p, V v, std::int64_t count) {
  if (count >= kLanes) {
    store_as(p, v);
  } else {
    float lane[kLanes];
    store(lane, v);
    __builtin_memcpy(p, lane, static_cast<std::size_t>(count) * sizeof(float));
  }
}

/// Prefetches the cache lines to which sixteen columns of a transposed matrix will be written.
template <typename T>
TRAFFIC_INLINE void prefetch_columns(Rows<T> out, std::int64_t column, std::int64_t rows) {
  constexpr std::int64_t kLine = 64 / static_cast<std::int64_t>(sizeof(T));
  for (std::int64_t i = 0; i < kLanes; ++i) {
    for (std::int64_t r = 0; r < rows; r += kLine)
      __builtin_prefetch(out.data + (column + i) * out.stride + r, 1);
  }
}

inline void transpose(Rows<const float> in, std::int64_t rows, std::int64_t columns,
                      Rows<float> out) {
  prefetch_columns(out, 0, rows);
  for (std::int64_t c = 0; c < columns; c += kLanes) {
    if (c + kLanes < columns) prefetch_columns(out, c + kLanes, rows);
    for (std::int64_t r = 0; r < rows; r += kLanes) {
      V m[16];
      for (int i = 0; i < 16; ++i)
        m[i] = r + i < rows ? load(in.data + (r + i) * in.stride + c) : V{};
      transpose_16(m);
      for (int i = 0; i < 16; ++i) store_part(out.data + (c + i) * out.stride + r, m[i], rows - r);
    }
  }
}

inline void transpose(Rows<const Bf16> in, std::int64_t rows, std::int64_t columns,
                      Rows<Bf16> out) {
  const auto pair_of_rows = [&](std::int64_t r, std::int64_t c) __attribute__((always_inline)) {
    const Bits first = r < rows ? load_upper(in.data + r * in.stride + c) : Bits{};
    const Bits second = r + 1 < rows ? load_upper(in.data + (r + 1) * in.stride + c) : Bits{};
    return from_bits((first >> 16) | second);
  };
  prefetch_columns(out, 0, rows);
  for (std::int64_t c = 0; c < columns; c += kLanes) {
    if (c + kLanes < columns) prefetch_columns(out, c + kLanes, rows);
    for (std::int64_t r = 0; r < rows; r += 2 * kLanes) {
      V m[16];
      for (int i = 0; i < 16; ++i) m[i] = pair_of_rows(r + 2 * i, c);
      transpose_16(m);
      for (int i = 0; i < 16; ++i)
        store_part(out.data + (c + i) * out.stride + r, m[i], (rows - r + 1) / 2);
    }
  }
}

}  // namespace traffic::model::kernels::TRAFFIC_ISA
