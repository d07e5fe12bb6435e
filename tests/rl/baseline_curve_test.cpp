#include "traffic/rl/baseline_curve.h"

#include <gtest/gtest.h>

#include <limits>

#include "traffic/core/error.h"

namespace traffic::rl {
namespace {

/// Two episodes of three bins of 2 s, one conflict: mean growth 2, 3, 6.
BaselineSums two_episodes() {
  BaselineSums sums{.bin_s = 2.0};
  sums.add_episode(std::vector<double>{1, 2, 4});
  sums.add_episode(std::vector<double>{3, 4, 8});
  return sums;
}

TEST(BaselineCurve, IsTheMeanGrowthByTimeOfTheEpisode) {
  const BaselineCurve curve(two_episodes());
  EXPECT_EQ(curve.duration_s(), 6.0);
  EXPECT_DOUBLE_EQ(curve.growth(0, 2), 2.0);
  EXPECT_DOUBLE_EQ(curve.growth(2, 4), 3.0);
  EXPECT_DOUBLE_EQ(curve.growth(4, 6), 6.0);
  EXPECT_DOUBLE_EQ(curve.growth(0, 6), 11.0);
}

TEST(BaselineCurve, ServesEveryControlPeriod) {
  const BaselineCurve curve(two_episodes());
  EXPECT_DOUBLE_EQ(curve.growth(1, 5), 1 + 3 + 3);
  EXPECT_DOUBLE_EQ(curve.growth(0.5, 1.0), 0.5);
  EXPECT_DOUBLE_EQ(curve.growth(3, 3), 0.0);
  double total = 0.0;
  for (int i = 0; i < 4; ++i) total += curve.growth(1.5 * i, 1.5 * (i + 1));
  EXPECT_DOUBLE_EQ(total, 11.0);
}

TEST(BaselineCurve, KeepsConflictsApart) {
  BaselineSums sums{.conflicts = 2};
  sums.add_episode(std::vector<double>{1, 10, 2, 20});
  const BaselineCurve curve(sums);
  EXPECT_EQ(curve.duration_s(), 2.0);
  EXPECT_DOUBLE_EQ(curve.growth(0, 2, 0), 3.0);
  EXPECT_DOUBLE_EQ(curve.growth(1, 2, 1), 20.0);
}

TEST(BaselineSums, SumsOfRanksMergeToThoseOfAllEpisodes) {
  BaselineSums first{.bin_s = 2.0};
  BaselineSums second{.bin_s = 2.0};
  first.add_episode(std::vector<double>{1, 2, 4});
  second.add_episode(std::vector<double>{3, 4, 8});
  BaselineSums merged{.bin_s = 2.0};
  merged.merge(first);
  merged.merge(second);
  merged.merge(BaselineSums{.bin_s = 2.0});  // a rank without an episode
  EXPECT_EQ(merged.episodes, 2);
  EXPECT_EQ(merged.growth, two_episodes().growth);
}

TEST(BaselineSums, RefuseEpisodesOfAnotherLengthOrKind) {
  BaselineSums sums = two_episodes();
  EXPECT_THROW(sums.add_episode(std::vector<double>{1, 2}), DataError);
  EXPECT_THROW(sums.merge({.bin_s = 1.0, .episodes = 1, .growth = {1, 2, 3}}), DataError);
  BaselineSums pairs{.conflicts = 2};
  EXPECT_THROW(pairs.add_episode(std::vector<double>{1, 2, 3}), DataError);
  EXPECT_EQ(sums.episodes, 2);
}

TEST(BaselineCurve, RefusesContradictorySums) {
  EXPECT_THROW(BaselineCurve(BaselineSums{}), DataError);
  EXPECT_THROW(BaselineCurve({.episodes = 1, .growth = {}}), DataError);
  EXPECT_THROW(BaselineCurve({.bin_s = 0.0, .episodes = 1, .growth = {1}}), DataError);
  EXPECT_THROW(BaselineCurve({.conflicts = 2, .episodes = 1, .growth = {1}}), DataError);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THROW(BaselineCurve({.episodes = 1, .growth = {1, nan}}), DataError);
}

TEST(BaselineCurve, RefusesTimesOutsideTheMeasurement) {
  const BaselineCurve curve(two_episodes());
  EXPECT_THROW(static_cast<void>(curve.growth(0, 6.5)), DataError);
  EXPECT_THROW(static_cast<void>(curve.growth(-1, 2)), DataError);
  EXPECT_THROW(static_cast<void>(curve.growth(3, 2)), DataError);
  EXPECT_THROW(static_cast<void>(curve.growth(0, 2, 1)), DataError);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THROW(static_cast<void>(curve.growth(nan, 2)), DataError);
}

}  // namespace
}  // namespace traffic::rl
