#include "train/world_model/rank_shares.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "train/world_model/batch_size.h"

namespace traffic::train {
namespace {

using ::testing::DoubleEq;
using ::testing::ElementsAre;

TEST(RankShares, AreInProportionToSpeedsAndOneOnAverage) {
  EXPECT_THAT(shares_of_speeds({30, 10, 20}),
              ElementsAre(DoubleEq(1.5), DoubleEq(0.5), DoubleEq(1.0)));
}

TEST(RankShares, AreEqualWhereSpeedsDifferByNoiseOnly) {
  EXPECT_THAT(shares_of_speeds({100, 104, 109}), ElementsAre(1, 1, 1));
  EXPECT_THAT(shares_of_speeds({5}), ElementsAre(1));
}

TEST(BatchSizeForMemory, GrowsWithTheFreeMemory) {
  constexpr std::int64_t kOneGiB = std::int64_t{1} << 30;
  EXPECT_EQ(batch_size_for_memory(0), 4);
  EXPECT_EQ(batch_size_for_memory(2 * kOneGiB), 4);
  EXPECT_EQ(batch_size_for_memory(3 * kOneGiB), 8);
  EXPECT_EQ(batch_size_for_memory(5 * kOneGiB), 16);
  EXPECT_EQ(batch_size_for_memory(18 * kOneGiB), 16);
  EXPECT_EQ(batch_size_for_memory(20 * kOneGiB), 32);
  EXPECT_EQ(batch_size_for_memory(21 * kOneGiB), 40);
  EXPECT_EQ(batch_size_for_memory(80 * kOneGiB), 48);
}

}  // namespace
}  // namespace traffic::train
