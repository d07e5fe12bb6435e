#include "train/ppo/learner_device.h"

#include <gtest/gtest.h>

namespace traffic::train {
namespace {

TEST(LearnerDevice, SmallControllersLearnOnTheCpuByDefault) {
  EXPECT_TRUE(learns_on_cpu("auto", kMostOnCpu));
  EXPECT_FALSE(learns_on_cpu("auto", kMostOnCpu + 1));
  EXPECT_TRUE(learns_on_cpu("cpu", 10 * kMostOnCpu));
  EXPECT_FALSE(learns_on_cpu("run", 1));
}

}  // namespace
}  // namespace traffic::train
