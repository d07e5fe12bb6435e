#include "train/monitor/nvml.h"

#include <gmock/gmock.h>

namespace traffic::train {
namespace {

using ::testing::HasSubstr;

TEST(Nvml, SaysHowBusyAGpuIs) {
  const Nvml nvml(TRAFFIC_STAND_IN_NVML);
  EXPECT_EQ(nvml.problem(), "");
  const auto load = nvml.load("0000:3b:00.0");
  ASSERT_TRUE(load.has_value());
  EXPECT_DOUBLE_EQ(load->busy, 0.87);
  EXPECT_EQ(load->used_bytes, std::int64_t{6} << 30);
  EXPECT_EQ(load->temperature_c, 61.0);
  EXPECT_FALSE(nvml.load("0000:af:00.0").has_value());
}

TEST(Nvml, WithoutItsLibraryItReportsAProblem) {
  const Nvml none("libnvidia-ml-of-no-driver.so.1");
  EXPECT_THAT(none.problem(), HasSubstr("libnvidia-ml-of-no-driver.so.1"));
  EXPECT_FALSE(none.load("0000:3b:00.0").has_value());
  // The file is a library, but not NVML.
  const Nvml other("libc.so.6");
  EXPECT_THAT(other.problem(), HasSubstr("nvmlInit_v2"));
  EXPECT_FALSE(other.load("0000:3b:00.0").has_value());
}

}  // namespace
}  // namespace traffic::train
