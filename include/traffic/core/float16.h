/// Conversions between float and IEEE half precision (16 bits, here in a std::uint16_t), for
/// compilers without a half type.
#pragma once

#include <bit>
#include <cstdint>
#include <limits>

namespace traffic {

/// Converts a half to float without rounding. Infinities and NaN are preserved.
inline float half_to_float(std::uint16_t half) {
  constexpr std::uint32_t kExponent = 0x7c00U << 13;
  const float scale = std::bit_cast<float>(std::uint32_t{(254 - 15) << 23});  // 2^112
  std::uint32_t bits = (half & 0x7fffU) << 13;
  const bool special = (bits & kExponent) == kExponent;
  // Multiplying corrects the exponent's bias and turns subnormal halves into normal floats.
  bits = std::bit_cast<std::uint32_t>(std::bit_cast<float>(bits) * scale);
  if (special) bits |= 0xffU << 23;
  return std::bit_cast<float>(bits | (half & 0x8000U) << 16);
}

/// Rounds a float to the nearest half, ties to even. Values beyond the largest half (65504) become
/// infinity. The function has no branches, so that the compiler can vectorise loops that call it.
inline std::uint16_t float_to_half(float value) {
  constexpr std::uint32_t kInfinity = 0xffU << 23;
  constexpr std::uint32_t kOverflow = (127U + 16U) << 23;  // 2^16
  constexpr std::uint32_t kSmallestNormal = 113U << 23;    // 2^-14
  constexpr std::uint32_t kSubnormalMagic = ((127U - 15U) + (23U - 10U) + 1U) << 23;
  constexpr std::uint32_t kRebias = 0U - (112U << 23);  // exponent bias 127 to 15
  const std::uint32_t all = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t sign = all & 0x80000000U;
  const std::uint32_t bits = all ^ sign;
  const std::uint32_t special = bits > kInfinity ? 0x7e00U : 0x7c00U;
  // For subnormal halves: the addition moves the ten bits of the half's mantissa to the lowest bits
  // of the float, and rounds them.
  const float aligned = std::bit_cast<float>(bits) + std::bit_cast<float>(kSubnormalMagic);
  const std::uint32_t subnormal = std::bit_cast<std::uint32_t>(aligned) - kSubnormalMagic;
  const std::uint32_t odd = (bits >> 13) & 1U;
  const std::uint32_t normal = (bits + kRebias + 0xfffU + odd) >> 13;
  const std::uint32_t finite = bits < kSmallestNormal ? subnormal : normal;
  return static_cast<std::uint16_t>((bits >= kOverflow ? special : finite) | sign >> 16);
}

}  // namespace traffic
