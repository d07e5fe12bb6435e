#include "train/world_model/batch_size.h"

#include <gmock/gmock.h>

namespace traffic::train {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

TEST(AdviceOnBatch, NamesTheKeyWhereABatchIsTooSmallOrTooLarge) {
  EXPECT_EQ(advice_on_batch(32, 300), "");
  EXPECT_EQ(advice_on_batch(32, 3), "")
      << "an epoch has few steps because samples are few; a batch of 32 is not large";
  EXPECT_EQ(advice_on_batch(256, 300), "");
  EXPECT_THAT(advice_on_batch(1, 10000), HasSubstr("raise data.batch_size"));
  EXPECT_THAT(advice_on_batch(4096, 2),
              AllOf(HasSubstr("2 steps"), HasSubstr("lower data.batch_size")));
  EXPECT_THAT(advice_on_batch(8192, 1), HasSubstr("1 step with"));
}

}  // namespace
}  // namespace traffic::train
