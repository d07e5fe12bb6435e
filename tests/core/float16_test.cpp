#include "traffic/core/float16.h"

#include <gtest/gtest.h>

#include <cmath>

namespace traffic {
namespace {

double value_of_half(std::uint16_t half) {
  const int exponent = (half >> 10) & 31;
  const double fraction = half & 1023;
  const double sign = (half & 0x8000) != 0 ? -1 : 1;
  if (exponent == 0) return sign * std::ldexp(fraction, -24);
  return sign * std::ldexp(1024 + fraction, exponent - 25);
}

TEST(Float16, EveryFiniteHalfBecomesItsExactValueAndComesBack) {
  for (std::uint32_t h = 0; h < 65536; ++h) {
    const auto half = static_cast<std::uint16_t>(h);
    if ((half & 0x7c00) == 0x7c00) continue;
    ASSERT_EQ(half_to_float(half), static_cast<float>(value_of_half(half))) << h;
    ASSERT_EQ(float_to_half(half_to_float(half)), half);
  }
}

TEST(Float16, InfinityAndNanStayWhatTheyAre) {
  EXPECT_TRUE(std::isinf(half_to_float(0x7c00)));
  EXPECT_TRUE(std::isinf(half_to_float(0xfc00)));
  EXPECT_TRUE(std::isnan(half_to_float(0x7e00)));
  EXPECT_EQ(float_to_half(INFINITY), 0x7c00);
  EXPECT_EQ(float_to_half(NAN) & 0x7fff, 0x7e00);
}

TEST(Float16, RoundsToTheNearestAndTiesToEven) {
  for (std::uint16_t half = 1; half < 0x7bff; ++half) {
    const float low = half_to_float(half);
    const float high = half_to_float(static_cast<std::uint16_t>(half + 1));
    const float middle = low + (high - low) / 2;  // exact: a float has 13 more bits
    const auto even = static_cast<std::uint16_t>(half % 2 == 0 ? half : half + 1);
    ASSERT_EQ(float_to_half(middle), even);
    ASSERT_EQ(float_to_half(std::nextafter(middle, 0.0F)), half);
    ASSERT_EQ(float_to_half(std::nextafter(middle, INFINITY)), half + 1);
    ASSERT_EQ(float_to_half(-middle), even | 0x8000);
  }
}

TEST(Float16, ValuesThatAreTooLargeBecomeInfinity) {
  EXPECT_EQ(float_to_half(65504.0F), 0x7bff);
  EXPECT_EQ(float_to_half(65519.0F), 0x7bff);
  EXPECT_EQ(float_to_half(65520.0F), 0x7c00);
  EXPECT_EQ(float_to_half(1e30F), 0x7c00);
}

}  // namespace
}  // namespace traffic
