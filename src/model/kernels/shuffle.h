/// Transposes sixteen vectors of sixteen lanes, and sums the lanes of vectors.
#pragma once

#include "kernels/simd.h"

namespace traffic::model::kernels::TRAFFIC_ISA {

#ifdef __AVX512F__

/// Each quarter (four lanes) of the result contains the elements A, B, C, D of the same quarters of
/// `a` (0 .. 3) and `b` (16 .. 19).
template <int A, int B, int C, int D>
TRAFFIC_INLINE V shuffle_quarters(V a, V b) {
  return __builtin_shufflevector(a, b, A, B, C, D, A + 4, B + 4, C + 4, D + 4, A + 8, B + 8, C + 8,
                                 D + 8, A + 12, B + 12, C + 12, D + 12);
}
/// Quarters Q and R of `a`, then quarters Q and R of `b`.
template <int Q, int R>
TRAFFIC_INLINE V pick_quarters(V a, V b) {
  constexpr int q = 4 * Q;
  constexpr int r = 4 * R;
  return __builtin_shufflevector(a, b, q, q + 1, q + 2, q + 3, r, r + 1, r + 2, r + 3, 16 + q,
                                 17 + q, 18 + q, 19 + q, 16 + r, 17 + r, 18 + r, 19 + r);
}

/// Lane j of m[i] becomes lane i of m[j].
TRAFFIC_INLINE void transpose_16(V (&m)[16]) {
  V quarter[16];  // [4 * group + j]: quarter l contains column 4 * l + j of the group's four rows
  for (int g = 0; g < 16; g += 4) {
    const V low01 = shuffle_quarters<0, 16, 1, 17>(m[g], m[g + 1]);
    const V high01 = shuffle_quarters<2, 18, 3, 19>(m[g], m[g + 1]);
    const V low23 = shuffle_quarters<0, 16, 1, 17>(m[g + 2], m[g + 3]);
    const V high23 = shuffle_quarters<2, 18, 3, 19>(m[g + 2], m[g + 3]);
    quarter[g] = shuffle_quarters<0, 1, 16, 17>(low01, low23);
    quarter[g + 1] = shuffle_quarters<2, 3, 18, 19>(low01, low23);
    quarter[g + 2] = shuffle_quarters<0, 1, 16, 17>(high01, high23);
    quarter[g + 3] = shuffle_quarters<2, 3, 18, 19>(high01, high23);
  }
  for (int j = 0; j < 4; ++j) {
    const V even01 = pick_quarters<0, 2>(quarter[j], quarter[4 + j]);
    const V odd01 = pick_quarters<1, 3>(quarter[j], quarter[4 + j]);
    const V even23 = pick_quarters<0, 2>(quarter[8 + j], quarter[12 + j]);
    const V odd23 = pick_quarters<1, 3>(quarter[8 + j], quarter[12 + j]);
    m[j] = pick_quarters<0, 2>(even01, even23);
    m[4 + j] = pick_quarters<0, 2>(odd01, odd23);
    m[8 + j] = pick_quarters<1, 3>(even01, even23);
    m[12 + j] = pick_quarters<1, 3>(odd01, odd23);
  }
}

/// Lane h of the result is the sum of the lanes of m[h]. Count is 4, 8 or 16. If it is less than
/// 16, the other lanes contain no useful values.
template <int Count>
TRAFFIC_INLINE V sum_each(const V (&m)[Count]) {
  V pair[Count / 2];
  for (int i = 0; i < Count / 2; ++i) {
    const V a = m[2 * i];
    const V b = m[2 * i + 1];
    pair[i] = shuffle_quarters<0, 16, 2, 18>(a, b) + shuffle_quarters<1, 17, 3, 19>(a, b);
  }
  V quad[Count / 4];
  for (int i = 0; i < Count / 4; ++i) {
    const V a = pair[2 * i];
    const V b = pair[2 * i + 1];
    quad[i] = shuffle_quarters<0, 1, 16, 17>(a, b) + shuffle_quarters<2, 3, 18, 19>(a, b);
  }
  if constexpr (Count == 4) {
    const V zero = {};
    // Adds quarters 0 + 2 and 1 + 3, then these two sums.
    const V half = pick_quarters<0, 1>(quad[0], zero) + pick_quarters<2, 3>(quad[0], zero);
    return half + pick_quarters<1, 2>(half, zero);
  } else {
    V half[2] = {};
    for (int i = 0; i < Count / 8; ++i) {
      const V a = quad[2 * i];
      const V b = quad[2 * i + 1];
      half[i] =
          __builtin_shufflevector(a, b, 0, 1, 2, 3, 16, 17, 18, 19, 8, 9, 10, 11, 24, 25, 26, 27) +
          __builtin_shufflevector(a, b, 4, 5, 6, 7, 20, 21, 22, 23, 12, 13, 14, 15, 28, 29, 30, 31);
    }
    return pick_quarters<0, 1>(half[0], half[1]) + pick_quarters<2, 3>(half[0], half[1]);
  }
}

#else

/// Lane j of m[i] becomes lane i of m[j].
TRAFFIC_INLINE void transpose_16(V (&m)[16]) {
  float in[16][16];
  for (int i = 0; i < 16; ++i) store(in[i], m[i]);
  for (int j = 0; j < 16; ++j) {
    float column[16];
    for (int i = 0; i < 16; ++i) column[i] = in[i][j];
    m[j] = load(column);
  }
}

/// Lane h of the result is the sum of the lanes of m[h]; further lanes are zero.
template <int Count>
TRAFFIC_INLINE V sum_each(const V (&m)[Count]) {
  float lane[kLanes] = {};
  for (int h = 0; h < Count; ++h) lane[h] = sum(m[h]);
  return load(lane);
}

#endif

}  // namespace traffic::model::kernels::TRAFFIC_ISA
