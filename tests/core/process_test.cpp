#include "traffic/core/process.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string>
#include <vector>

#include "traffic/core/clock.h"
#include "traffic/core/error.h"

namespace traffic {
namespace {

TEST(Process, PeakMemoryGrowsWithWhatIsTouchedAndStaysWhenItIsFreed) {
  const std::int64_t before = rss_bytes();
  ASSERT_GT(before, 0);
  {
    std::vector<char> block(64 << 20, 1);
    volatile char keep = block[block.size() / 2];
    (void)keep;
    EXPECT_GE(rss_bytes(), before + (60 << 20));
  }
  EXPECT_GE(peak_rss_bytes(), before + (60 << 20));
}

TEST(Process, KnowsItsCommandLine) {
  const std::vector<std::string> words = command_line();
  ASSERT_FALSE(words.empty());
  EXPECT_NE(words.front().find("test_core"), std::string::npos) << words.front();
}

TEST(Process, TheLeastLimitOfNestedControlGroupsCounts) {
  namespace fs = std::filesystem;
  const fs::path mount = fs::temp_directory_path() / ("cgroup_test_" + std::to_string(getpid()));
  const auto limit = [&](const fs::path& group, const char* name, const char* text) {
    fs::create_directories(mount / group);
    std::ofstream(mount / group / name) << text << "\n";
  };
  constexpr std::int64_t kNone = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(cgroup_memory_limit_bytes(mount, "0::/slurm/job_7/step_0\n"), kNone);
  limit("slurm", "memory.max", "max");
  limit("slurm/job_7", "memory.max", "2000");
  limit("slurm/job_7/step_0", "memory.max", "3000");
  limit("slurm/job_8", "memory.max", "10");
  EXPECT_EQ(cgroup_memory_limit_bytes(mount, "0::/slurm/job_7/step_0\n"), 2000);
  EXPECT_EQ(cgroup_memory_limit_bytes(mount, "no line of that kind\n"), kNone);
  limit("memory/slurm/job_7", "memory.limit_in_bytes", "1000");
  EXPECT_EQ(cgroup_memory_limit_bytes(mount, "12:cpu:/x\n4:memory:/slurm/job_7\n"), 1000);
  limit("", "memory.max", "500");  // as a container is shown its own
  EXPECT_EQ(cgroup_memory_limit_bytes(mount, "0::/slurm/job_7/step_0\n"), 500);
  fs::remove_all(mount);
}

TEST(Process, KnowsTheMachine) {
  EXPECT_GE(total_memory_bytes(), peak_rss_bytes());
  EXPECT_FALSE(hostname().empty());
  EXPECT_EQ(hostname().find('.'), std::string::npos);
  EXPECT_GT(free_disk_bytes(std::filesystem::temp_directory_path()), 0);
  EXPECT_THROW(free_disk_bytes("/no/such/folder"), ResourceError);
}

// seconds_since_launch() reads the environment once, so each case runs in a process of its own.
[[noreturn]] void exit_with_launch_age(const char* launch_time) {
  setenv("TRAFFIC_LAUNCH_TIME", launch_time, 1);
  try {
    const double age = seconds_since_launch();
    ::_exit(age >= 900 && age < 2000 ? 10 : age >= 0 && age < 900 ? 11 : 12);
  } catch (const ConfigError&) {
    ::_exit(2);
  }
}

TEST(ClockDeathTest, CountsFromTheTimeThatTheLaunchScriptSet) {
  const std::string thousand_seconds_ago = std::to_string(std::time(nullptr) - 1000) + ".25";
  EXPECT_EXIT(exit_with_launch_age(thousand_seconds_ago.c_str()), ::testing::ExitedWithCode(10),
              "");
}

TEST(ClockDeathTest, CountsFromTheStartOfTheProcessOtherwise) {
  EXPECT_EXIT(exit_with_launch_age(""), ::testing::ExitedWithCode(11), "");
  const std::string future = std::to_string(std::time(nullptr) + 5000);
  EXPECT_EXIT(exit_with_launch_age(future.c_str()), ::testing::ExitedWithCode(11), "");
}

TEST(ClockDeathTest, ALaunchTimeThatIsNoNumberIsAConfigError) {
  EXPECT_EXIT(exit_with_launch_age("yesterday"), ::testing::ExitedWithCode(2), "");
  EXPECT_EXIT(exit_with_launch_age("12x"), ::testing::ExitedWithCode(2), "");
}

TEST(Clock, TimeStampsHaveTheirFixedForm) {
  const std::string stamp = utc_timestamp();
  ASSERT_EQ(stamp.size(), 20U);
  EXPECT_EQ(stamp[4], '-');
  EXPECT_EQ(stamp[10], 'T');
  EXPECT_EQ(stamp.back(), 'Z');
  const std::string file_stamp = utc_file_stamp();
  ASSERT_EQ(file_stamp.size(), 15U);
  EXPECT_EQ(file_stamp[8], '-');
}

}  // namespace
}  // namespace traffic
