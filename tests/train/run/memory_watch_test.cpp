#include "train/run/memory_watch.h"

#include <gmock/gmock.h>

namespace traffic::train {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr std::int64_t kGiB = std::int64_t{1} << 30;

GpuMemory memory(std::int64_t allocated, std::int64_t reserved, std::int64_t peak) {
  return {.allocated = allocated * kGiB,
          .reserved = reserved * kGiB,
          .peak_allocated = peak * kGiB,
          .total = 22 * kGiB};
}

TEST(MemoryWatch, IsSilentBelowTheLimits) {
  MemoryWatch watch({});
  const MemoryActions actions = watch.look(memory(20, 21, 21));
  EXPECT_THAT(actions.warnings, IsEmpty());
  EXPECT_FALSE(actions.clear_cache);
}

TEST(MemoryWatch, WarnsOnceOfMuchAllocatedAndAgainAfterItHadCeased) {
  MemoryWatch watch({});
  const MemoryActions first = watch.look(memory(21, 21, 21));
  ASSERT_THAT(first.warnings, SizeIs(1));
  EXPECT_THAT(first.warnings[0], HasSubstr("lower data.batch_size"));
  EXPECT_THAT(watch.look(memory(21, 21, 21)).warnings, IsEmpty());
  EXPECT_THAT(watch.look(memory(10, 21, 21)).warnings, IsEmpty());
  EXPECT_THAT(watch.look(memory(21, 21, 21)).warnings, SizeIs(1));
}

TEST(MemoryWatch, ClearsTheCacheWhereSomethingIsCached) {
  MemoryWatch watch({});
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
