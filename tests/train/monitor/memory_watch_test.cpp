#include "train/monitor/memory_watch.h"

#include <gmock/gmock.h>

namespace traffic::train {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr std::int64_t kGiB = std::int64_t{1} << 30;
constexpr MemoryLimits kLimits{.allocated_gb = 20, .reserved_gb = 21};

GpuMemory memory(std::int64_t allocated, std::int64_t reserved, std::int64_t peak) {
  return {.allocated = allocated * kGiB,
          .reserved = reserved * kGiB,
          .peak_allocated = peak * kGiB,
          .total = 22 * kGiB};
}

TEST(MemoryWatch, IsSilentBelowTheLimits) {
  MemoryWatch watch(kLimits);
  const MemoryActions actions = watch.look(memory(20, 21, 21));
  EXPECT_THAT(actions.warnings, IsEmpty());
  EXPECT_FALSE(actions.clear_cache);
}

TEST(MemoryWatch, WarnsOnceOfMuchMemoryAndAgainAfterItHadFallen) {
  MemoryWatch watch(kLimits);
  const MemoryActions first = watch.look(memory(21, 21, 21));
  ASSERT_THAT(first.warnings, SizeIs(1));
  EXPECT_THAT(first.warnings[0], HasSubstr("lower data.batch_size"));
  EXPECT_THAT(watch.look(memory(21, 21, 21)).warnings, IsEmpty());
  EXPECT_THAT(watch.look(memory(10, 21, 21)).warnings, IsEmpty());
  EXPECT_THAT(watch.look(memory(21, 21, 21)).warnings, SizeIs(1));
}

TEST(MemoryWatch, ClearsTheCacheWhereSomethingIsCached) {
  MemoryWatch watch(kLimits);
  EXPECT_TRUE(watch.look(memory(5, 22, 5)).clear_cache);
  EXPECT_FALSE(watch.look(memory(22, 22, 5)).clear_cache);
  EXPECT_FALSE(watch.look(memory(5, 21, 5)).clear_cache);
}

TEST(MemoryWatch, AdvisesCheckpointingOnceForAHighPeak) {
  MemoryWatch watch({.allocated_gb = 30, .reserved_gb = 21});
  const MemoryActions actions = watch.look(memory(5, 5, 22));
  ASSERT_THAT(actions.warnings, SizeIs(1));
  EXPECT_THAT(actions.warnings[0], HasSubstr("train.gradient_checkpointing = true"));
  EXPECT_THAT(actions.warnings[0], HasSubstr("by 8 to 12"));
  EXPECT_THAT(watch.look(memory(5, 5, 22)).warnings, IsEmpty());
}

TEST(MemoryWatch, DefaultLimitsAreSharesOfTheMemoryOfARank) {
  // Without settings the limits are 5/6 and 7/8 of the memory that a rank may use. For 22 GiB they
  // are 18.3 and 19.25 GiB, and for half of that memory 9.2 and 9.6 GiB.
  EXPECT_THAT(MemoryWatch({}).look(memory(18, 19, 19)).warnings, IsEmpty());
  EXPECT_THAT(MemoryWatch({}).look(memory(19, 19, 19)).warnings, SizeIs(1));
  EXPECT_TRUE(MemoryWatch({}).look(memory(5, 20, 5)).clear_cache);
  EXPECT_THAT(MemoryWatch({.share = 0.5}).look(memory(10, 10, 9)).warnings, SizeIs(1));
  EXPECT_TRUE(MemoryWatch({.share = 0.5}).look(memory(5, 10, 5)).clear_cache);
}

TEST(AllowedShare, IsTheSmallerOfBothLimits) {
  EXPECT_DOUBLE_EQ(allowed_share(0.9, 0.0, 24 * kGiB), 0.9);
  EXPECT_DOUBLE_EQ(allowed_share(0.9, 12.0, 24 * kGiB), 0.5);
  EXPECT_DOUBLE_EQ(allowed_share(0.9, 40.0, 24 * kGiB), 0.9);
}

TEST(AdviseBatch, FollowsTheTableOfUsedShares) {
  EXPECT_THAT(advise_batch(0.79), HasSubstr("grow by 4 to 8"));
  EXPECT_THAT(advise_batch(0.80), HasSubstr("is right"));
  EXPECT_THAT(advise_batch(0.90), HasSubstr("is right"));
  EXPECT_THAT(advise_batch(0.93), HasSubstr("lower data.batch_size by 4 to 8"));
  EXPECT_THAT(advise_batch(0.96), HasSubstr("lower data.batch_size by 8 to 12"));
  EXPECT_THAT(advise_after_out_of_memory(), HasSubstr("lower data.batch_size by 12 to 16"));
}

}  // namespace
}  // namespace traffic::train
