#include "comm/gradient_buckets.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "traffic/core/error.h"

namespace traffic::comm {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// Consecutive parameters with these numbers of elements, each a multiple of 16.
std::vector<ArenaEntry> entries_of(const std::vector<std::int64_t>& sizes) {
  std::vector<ArenaEntry> entries;
  std::int64_t offset = 0;
  for (const std::int64_t numel : sizes) {
    entries.push_back({fmt::format("p{}", entries.size()), offset, {numel}, numel});
    offset += numel;
  }
  return entries;
}

constexpr std::int64_t kMiB = std::int64_t{1} << 20;
constexpr std::int64_t kFloats = kMiB / 4;  // floats in a MiB

TEST(CutBuckets, GoesFromTheEndWithASmallFirstBucket) {
  // The parameters have 3, 2, 2, 1, 0.5 and 0.5 MiB.
  const auto entries =
      entries_of({3 * kFloats, 2 * kFloats, 2 * kFloats, kFloats, kFloats / 2, kFloats / 2});
  const auto buckets = cut_buckets(entries, 9 * kFloats, 4 * kMiB);
  ASSERT_EQ(buckets.size(), 4U);
  const auto expect = [&](std::size_t b, std::int64_t offset, std::int64_t numel,
                          std::size_t parameters) {
    EXPECT_EQ(buckets[b].offset, offset * kFloats) << b;
    EXPECT_EQ(buckets[b].numel, numel * kFloats) << b;
    EXPECT_EQ(buckets[b].num_parameters, parameters) << b;
  };
  expect(0, 8, 1, 2);
  expect(1, 5, 3, 2);
  expect(2, 3, 2, 1);
  expect(3, 0, 3, 1);
}

TEST(CutBuckets, GivesAParameterThatIsTooLargeABucketOfItsOwn) {
  const auto buckets = cut_buckets(entries_of({16, 40 * kFloats, 16}), 40 * kFloats + 32, kMiB);
  ASSERT_EQ(buckets.size(), 3U);
  EXPECT_EQ(buckets[0].numel, 16);
  EXPECT_EQ(buckets[1].numel, 40 * kFloats);
  EXPECT_EQ(buckets[2].numel, 16);
}

/// A queue of three buckets of five parameters: bucket 0 has the parameters 3 and 4, bucket 1 has
/// parameter 2, and bucket 2 has the parameters 0 and 1.
class BucketQueueTest : public ::testing::Test {
 protected:
  BucketQueueTest()
      : queue_({{.first_parameter = 3, .num_parameters = 2},
                {.first_parameter = 2, .num_parameters = 1},
                {.first_parameter = 0, .num_parameters = 2}}) {}

  BucketQueue queue_;
  std::vector<bool> none_ = std::vector<bool>(5, false);
};

TEST_F(BucketQueueTest, ReleasesABucketWithItsLastParameter) {
  queue_.start(none_);
  EXPECT_THAT(queue_.mark_ready(4), IsEmpty());
  EXPECT_THAT(queue_.mark_ready(3), ElementsAre(0));
  EXPECT_THAT(queue_.mark_ready(2), ElementsAre(1));
  EXPECT_THAT(queue_.mark_ready(0), IsEmpty());
  EXPECT_THAT(queue_.mark_ready(1), ElementsAre(2));
  EXPECT_THAT(queue_.finish(), IsEmpty());
}

TEST_F(BucketQueueTest, KeepsTheOrderWhicheverBucketIsReadyFirst) {
  queue_.start(none_);
  EXPECT_THAT(queue_.mark_ready(0), IsEmpty());
  EXPECT_THAT(queue_.mark_ready(1), IsEmpty()) << "bucket 2 must wait for buckets 0 and 1";
  EXPECT_THAT(queue_.mark_ready(2), IsEmpty());
  EXPECT_THAT(queue_.mark_ready(3), IsEmpty());
  EXPECT_THAT(queue_.mark_ready(4), ElementsAre(0, 1, 2));
  EXPECT_THAT(queue_.completion_order(), ElementsAre(2, 1, 0));
}

TEST_F(BucketQueueTest, FollowsAGivenOrder) {
  queue_.set_order({2, 0, 1});
  queue_.start(none_);
  EXPECT_THAT(queue_.mark_ready(0), IsEmpty());
  EXPECT_THAT(queue_.mark_ready(1), ElementsAre(2));
  EXPECT_THAT(queue_.finish(), ElementsAre(0, 1));
}

TEST_F(BucketQueueTest, DoesNotWaitForParametersDeclaredUnused) {
  queue_.start({false, true, false, true, true});
  EXPECT_THAT(queue_.mark_ready(2), ElementsAre(0, 1)) << "all parameters of bucket 0 are unused";
  EXPECT_THAT(queue_.mark_ready(0), ElementsAre(2));
}

TEST_F(BucketQueueTest, ReleasesIncompleteBucketsAtTheEnd) {
  queue_.start(none_);
  queue_.mark_ready(2);
  EXPECT_THAT(queue_.finish(), ElementsAre(0, 1, 2));
  EXPECT_THAT(queue_.completion_order(), ElementsAre(1, 0, 2));
}

TEST_F(BucketQueueTest, RefusesASecondGradientOfAParameter) {
  queue_.start({false, false, true, false, false});
  queue_.mark_ready(4);
  EXPECT_THROW(queue_.mark_ready(4), Error);
  EXPECT_THROW(queue_.mark_ready(2), Error) << "parameter 2 was declared unused";
}

}  // namespace
}  // namespace traffic::comm
