/// V, a vector of sixteen floats: one register of AVX-512, two of AVX2, four of SSE. Sources that
/// include this header are compiled once for each instruction set, each time in another namespace,
/// TRAFFIC_ISA. They must not include headers with inline functions that other sources include,
/// too: the linker could choose the version for the wrong instruction set.
#pragma once

#include <cstddef>
#include <cstdint>

#ifdef __AVX512F__
#include <immintrin.h>
#endif

#include "kernels/kernels.h"

#define TRAFFIC_INLINE inline __attribute__((always_inline))

namespace traffic::model::kernels::TRAFFIC_ISA {

inline constexpr std::int64_t kLanes = 16;
#if defined(__AVX512F__)
inline constexpr int kNativeLanes = 16;
#elif defined(__AVX2__)
inline constexpr int kNativeLanes = 8;
#else
inline constexpr int kNativeLanes = 4;
#endif

/// The widest vector that the machine computes with at once.
using Native = float __attribute__((vector_size(4 * kNativeLanes)));
using NativeBits = std::uint32_t __attribute__((vector_size(4 * kNativeLanes)));
using NativeHalf = std::uint16_t __attribute__((vector_size(2 * kNativeLanes)));

/// Two vectors, used as one vector with twice as many lanes.
template <typename T>
struct Pair {
  T low;
  T high;
};

template <int Lanes, typename T>
struct Widened {
  using type = typename Widened<Lanes / 2, Pair<T>>::type;
};
template <typename T>
struct Widened<1, T> {
  using type = T;
};
using V = Widened<kLanes / kNativeLanes, Native>::type;
using Bits = Widened<kLanes / kNativeLanes, NativeBits>::type;  ///< the same lanes as unsigned
                                                                ///< integers
using Half = Widened<kLanes / kNativeLanes, NativeHalf>::type;

template <typename S>
inline constexpr bool kIsScalar = false;
template <>
inline constexpr bool kIsScalar<float> = true;
template <>
inline constexpr bool kIsScalar<int> = true;
template <>
inline constexpr bool kIsScalar<unsigned> = true;

#define TRAFFIC_OPERATOR(op)                                               \
  template <typename T>                                                    \
  TRAFFIC_INLINE Pair<T> operator op(const Pair<T>& a, const Pair<T>& b) { \
    return {a.low op b.low, a.high op b.high};                             \
  }                                                                        \
  template <typename T, typename S>                                        \
  requires(kIsScalar<S>) TRAFFIC_INLINE Pair<T>                            \
  operator op(const Pair<T>& a, S b) { return {a.low op b, a.high op b}; } \
  template <typename T, typename S>                                        \
  requires(kIsScalar<S>) TRAFFIC_INLINE Pair<T>                            \
  operator op(S a, const Pair<T>& b) { return {a op b.low, a op b.high}; }
TRAFFIC_OPERATOR(+)
TRAFFIC_OPERATOR(-)
TRAFFIC_OPERATOR(*)
TRAFFIC_OPERATOR(/)
TRAFFIC_OPERATOR(&)
TRAFFIC_OPERATOR(|)
TRAFFIC_OPERATOR(<<)
TRAFFIC_OPERATOR(>>)
#undef TRAFFIC_OPERATOR
template <typename T>
TRAFFIC_INLINE Pair<T> operator-(const Pair<T>& a) {
  return {-a.low, -a.high};
}
template <typename T>
TRAFFIC_INLINE Pair<T>& operator+=(Pair<T>& a, const Pair<T>& b) {
  return a = a + b;
}

// Memory is read and written in native vectors: copying a Pair as a whole would go through the
// stack.
template <typename T>
inline constexpr bool kIsPair = false;
template <typename T>
inline constexpr bool kIsPair<Pair<T>> = true;

template <typename T>
TRAFFIC_INLINE T load_as(const void* p) {
  if constexpr (kIsPair<T>) {
    using Part = decltype(T::low);
    return {load_as<Part>(p), load_as<Part>(static_cast<const char*>(p) + sizeof(Part))};
  } else {
    T v;
    __builtin_memcpy(&v, p, sizeof v);
    return v;
  }
}
template <typename T>
TRAFFIC_INLINE void store_as(void* p, const T& v) {
  if constexpr (kIsPair<T>) {
    store_as(p, v.low);
    store_as(static_cast<char*>(p) + sizeof(v.low), v.high);
  } else {
    __builtin_memcpy(p, &v, sizeof v);
  }
}

TRAFFIC_INLINE NativeBits bits(Native x) { return reinterpret_cast<NativeBits>(x); }
TRAFFIC_INLINE Native from_bits(NativeBits x) { return reinterpret_cast<Native>(x); }
template <typename T>
TRAFFIC_INLINE auto bits(const Pair<T>& x) {
  return Pair<decltype(bits(x.low))>{bits(x.low), bits(x.high)};
}
template <typename T>
TRAFFIC_INLINE auto from_bits(const Pair<T>& x) {
  return Pair<decltype(from_bits(x.low))>{from_bits(x.low), from_bits(x.high)};
}
TRAFFIC_INLINE V splat(float x) { return V{} + x; }

TRAFFIC_INLINE NativeBits widen(NativeHalf x) { return __builtin_convertvector(x, NativeBits); }
TRAFFIC_INLINE NativeHalf narrow(NativeBits x) { return __builtin_convertvector(x, NativeHalf); }
TRAFFIC_INLINE Native maximum(Native a, Native b) {
#ifdef __AVX512F__
  return _mm512_maskz_max_ps(0xffff, a, b);  // unmasked, GCC 12 warns about its own header
#else
  return a > b ? a : b;
#endif
}
TRAFFIC_INLINE Native minimum(Native a, Native b) {
#ifdef __AVX512F__
  return _mm512_maskz_min_ps(0xffff, a, b);
#else
  return a < b ? a : b;
#endif
}
TRAFFIC_INLINE Native where_positive(Native x, Native a, Native b) { return x > 0.0F ? a : b; }

template <typename T>
TRAFFIC_INLINE auto widen(const Pair<T>& x) {
  return Pair<decltype(widen(x.low))>{widen(x.low), widen(x.high)};
}
template <typename T>
TRAFFIC_INLINE auto narrow(const Pair<T>& x) {
  return Pair<decltype(narrow(x.low))>{narrow(x.low), narrow(x.high)};
}
/// Maximum and minimum, lane by lane. In a lane where an argument is NaN, the result is b.
template <typename T>
TRAFFIC_INLINE Pair<T> maximum(const Pair<T>& a, const Pair<T>& b) {
  return {maximum(a.low, b.low), maximum(a.high, b.high)};
}
template <typename T>
TRAFFIC_INLINE Pair<T> minimum(const Pair<T>& a, const Pair<T>& b) {
  return {minimum(a.low, b.low), minimum(a.high, b.high)};
}
/// a where x > 0, else b.
template <typename T>
TRAFFIC_INLINE Pair<T> where_positive(const Pair<T>& x, const Pair<T>& a, const Pair<T>& b) {
  return {where_positive(x.low, a.low, b.low), where_positive(x.high, a.high, b.high)};
}
TRAFFIC_INLINE V absolute(V x) { return from_bits(bits(x) & 0x7fffffffU); }

TRAFFIC_INLINE V load(const float* p) { return load_as<V>(p); }
TRAFFIC_INLINE void store(float* p, V v) { store_as(p, v); }

/// Loads sixteen bfloat16 numbers, each into the upper half of a lane.
TRAFFIC_INLINE Bits load_upper(const Bf16* p) { return widen(load_as<Half>(p)) << 16; }
TRAFFIC_INLINE V load(const Bf16* p) { return from_bits(load_upper(p)); }

/// The bits of x rounded to bfloat16 (nearest even), in the upper half of each lane.
TRAFFIC_INLINE Bits round_to_bf16(V x) {
  const Bits u = bits(x);
  return u + (((u >> 16) & 1U) + 0x7fffU);
}
TRAFFIC_INLINE void store(Bf16* p, V v) { store_as(p, narrow(round_to_bf16(v) >> 16)); }

/// Stores lanes of two consecutive rows of the right-hand side of a product (see gemm.h): two rows
/// of float, or interleaved pairs of bfloat16. `stride` is the length of a row. Without a second
/// row (`both` false) bfloat16 pairs are padded with zeros, and only one row of float is written.
TRAFFIC_INLINE void store_row_pair(float* p, std::int64_t stride, V first, V second, bool both) {
  store(p, first);
  if (both) store(p + stride, second);
}
TRAFFIC_INLINE void store_row_pair(Bf16* p, std::int64_t /*stride*/, V first, V second,
                                   bool /*both*/) {
  store_as(p, (round_to_bf16(first) >> 16) | (round_to_bf16(second) & 0xffff0000U));
}
/// Offset of column `c` of the first row of a row pair from the begin of the pair, in elements.
TRAFFIC_INLINE std::int64_t pair_column(const float*, std::int64_t c) { return c; }
TRAFFIC_INLINE std::int64_t pair_column(const Bf16*, std::int64_t c) { return 2 * c; }

TRAFFIC_INLINE float sum(__attribute__((vector_size(16))) float v) {
  return (v[0] + v[2]) + (v[1] + v[3]);
}
#ifdef __AVX2__
TRAFFIC_INLINE float sum(__attribute__((vector_size(32))) float v) {
  return sum(__builtin_shufflevector(v, v, 0, 1, 2, 3) + __builtin_shufflevector(v, v, 4, 5, 6, 7));
}
#endif
#ifdef __AVX512F__
TRAFFIC_INLINE float sum(__attribute__((vector_size(64))) float v) {
  return sum(__builtin_shufflevector(v, v, 0, 1, 2, 3, 4, 5, 6, 7) +
             __builtin_shufflevector(v, v, 8, 9, 10, 11, 12, 13, 14, 15));
}
#endif
template <typename T>
TRAFFIC_INLINE float sum(const Pair<T>& v) {
  return sum(v.low + v.high);
}

/// e^x, relative error below 2e-7 (polynomial of Cephes' expf). x is clamped to the range of float;
/// NaN stays NaN.
TRAFFIC_INLINE V exponential(V x) {
  x = maximum(splat(-87.0F), minimum(splat(88.0F), x));
  constexpr float kRound =
      12582912.0F;  // 1.5 * 2^23: adding it rounds to an integer, in the low bits of the sum
  const V shifted = x * 1.44269504088896341F + kRound;
  const V n = shifted - kRound;
  const V r = (x - n * 0.693359375F) + n * 2.12194440e-4F;
  V p = splat(1.9875691500e-4F);
  p = p * r + 1.3981999507e-3F;
  p = p * r + 8.3334519073e-3F;
  p = p * r + 4.1665795894e-2F;
  p = p * r + 1.6666665459e-1F;
  p = p * r + 5.0000001201e-1F;
  p = (p * r) * r + (r + 1.0F);
  return from_bits(bits(p) + (bits(shifted) << 23));
}

TRAFFIC_INLINE V sigmoid(V x) { return 1.0F / (1.0F + exponential(-x)); }
/// Absolute error below 2e-7.
TRAFFIC_INLINE V hyperbolic_tangent(V x) { return 2.0F / (1.0F + exponential(-2.0F * x)) - 1.0F; }

/// Standard normal distribution function and density. Abramowitz and Stegun 7.1.26: error of `cdf`
/// below 1e-7.
struct Normal {
  V cdf;
  V pdf;
};
TRAFFIC_INLINE Normal normal(V x) {
  const V e = exponential(x * x * -0.5F);
  const V t = 1.0F / (absolute(x) * (0.3275911F * 0.70710678118F) + 1.0F);
  V p = splat(1.061405429F);
  p = p * t - 1.453152027F;
  p = p * t + 1.421413741F;
  p = p * t - 0.284496736F;
  p = p * t + 0.254829592F;
  const V tail = (p * t) * (e * 0.5F);
  return {where_positive(x, 1.0F - tail, tail), e * 0.3989422804F};
}

}  // namespace traffic::model::kernels::TRAFFIC_ISA
