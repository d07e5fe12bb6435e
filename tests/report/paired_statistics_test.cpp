#include "traffic/report/paired_statistics.h"

#include <gtest/gtest.h>

#include <cmath>

#include "traffic/core/error.h"

namespace traffic::report {
namespace {

TEST(StudentT, HasTheQuantilesOfTheTables) {
  // The two-sided 95 % quantiles of printed tables, which have three decimal places.
  EXPECT_NEAR(student_t_two_sided(0.95, 1), 12.706, 5e-4);
  EXPECT_NEAR(student_t_two_sided(0.95, 2), 4.303, 5e-4);
  EXPECT_NEAR(student_t_two_sided(0.95, 9), 2.262, 5e-4);
  EXPECT_NEAR(student_t_two_sided(0.95, 19), 2.093, 5e-4);
  EXPECT_NEAR(student_t_two_sided(0.99, 4), 4.604, 5e-4);
  EXPECT_NEAR(student_t_two_sided(0.95, 1000), 1.962, 5e-4);
}

TEST(PairedStatistics, EqualThoseOfAHandComputedCase) {
  // 10, 0 and 5: mean 5, deviation 5, half-width 4.303 * 5 / sqrt(3).
  const std::vector<double> differences =
      paired_differences(std::vector{14.0, 3.0, 7.0}, std::vector{4.0, 3.0, 2.0});
  const MeanInterval interval = mean_interval(differences);
  EXPECT_EQ(interval.count, 3);
  EXPECT_NEAR(interval.mean, 5.0, 1e-12);
  EXPECT_NEAR(interval.deviation, 5.0, 1e-12);
  EXPECT_NEAR(interval.half_width, 4.303 * 5.0 / std::sqrt(3.0), 2e-3);
  EXPECT_NEAR(interval.least, 0.0, 1e-12);
  EXPECT_NEAR(interval.most, 10.0, 1e-12);
}

TEST(PairedStatistics, OneValueHasNoInterval) {
  const MeanInterval interval = mean_interval(std::vector{3.0});
  EXPECT_EQ(interval.mean, 3.0);
  EXPECT_TRUE(std::isinf(interval.half_width));
}

TEST(PairedStatistics, RefuseValuesWithoutPairs) {
  EXPECT_THROW(mean_interval({}), Error);
  EXPECT_THROW(paired_differences(std::vector{1.0}, std::vector{1.0, 2.0}), Error);
}

}  // namespace
}  // namespace traffic::report
