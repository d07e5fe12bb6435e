#include "traffic/core/process.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "traffic/core/clock.h"
#include "traffic/core/error.h"
#include "traffic/os/child_process.h"

namespace traffic {
namespace {

namespace fs = std::filesystem;

TEST(Process, PeakMemoryGrowsWithTouchedMemoryAndStaysAfterFreeing) {
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

TEST(Process, TheMinimumLimitOfNestedControlGroupsCounts) {
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
  limit("", "memory.max", "500");  // a container sees its own group as the root
  EXPECT_EQ(cgroup_memory_limit_bytes(mount, "0::/slurm/job_7/step_0\n"), 500);
  fs::remove_all(mount);
}

TEST(Process, CountsProcessesOfAControlGroupKilledForMemory) {
  const fs::path mount = fs::temp_directory_path() / ("oom_test_" + std::to_string(getpid()));
  const auto events = [&](const fs::path& group, const char* name, int kills) {
    fs::create_directories(mount / group);
    std::ofstream(mount / group / name) << "low 0\noom 7\noom_kill " << kills << "\n";
  };
  EXPECT_EQ(cgroup_oom_kills(mount, "0::/slurm/job_7\n"), -1)
      << "-1 means that the group has no file with a count";
  events("slurm/job_8", "memory.events", 5);
  EXPECT_EQ(cgroup_oom_kills(mount, "0::/slurm/job_7\n"), -1)
      << "the count of another group must not be used";
  events("slurm/job_7", "memory.events", 0);
  EXPECT_EQ(cgroup_oom_kills(mount, "0::/slurm/job_7\n"), 0);
  events("slurm/job_7", "memory.events", 2);
  EXPECT_EQ(cgroup_oom_kills(mount, "0::/slurm/job_7\n"), 2);
  events("", "memory.events", 3);  // a container sees its own group as the root
  EXPECT_EQ(cgroup_oom_kills(mount, "0::/docker/another_name\n"), 3);
  events("memory/slurm/job_7", "memory.oom_control", 4);
  fs::remove(mount / "memory.events");
  EXPECT_EQ(cgroup_oom_kills(mount, "12:cpu:/x\n4:memory:/slurm/job_7\n0::/\n"), 4);
  fs::remove_all(mount);
}

TEST(Process, KnowsTheMachine) {
  EXPECT_GE(total_memory_bytes(), peak_rss_bytes());
  EXPECT_GT(available_memory_bytes(), 0);
  EXPECT_LE(available_memory_bytes(), total_memory_bytes());
  EXPECT_GE(swap_used_bytes(), 0);
  EXPECT_GE(load_average(), 0.0);
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

/// A control group with a limit of 64 MiB of memory. is_there() is false if this machine does not
/// allow the test to create it.
class SmallGroup {
 public:
  SmallGroup()
      : dir_(fs::path("/sys/fs/cgroup/memory") / ("traffic_test_" + std::to_string(getpid()))) {
    std::error_code error;
    if (!fs::exists(dir_.parent_path() / "memory.limit_in_bytes")) {
      dir_ = fs::path("/sys/fs/cgroup") / dir_.filename();
    }
    if (!fs::create_directory(dir_, error)) return;
    for (const char* name : {"memory.limit_in_bytes", "memory.max"}) {
      if (!fs::exists(dir_ / name)) continue;
      std::ofstream file(dir_ / name);
      is_there_ = static_cast<bool>(file << (64 << 20) << std::flush);
    }
  }
  ~SmallGroup() {
    std::error_code error;
    fs::remove(dir_, error);
  }
  SmallGroup(const SmallGroup&) = delete;
  SmallGroup& operator=(const SmallGroup&) = delete;
  [[nodiscard]] bool is_there() const { return is_there_; }
  void enter() const { std::ofstream(dir_ / "cgroup.procs") << getpid() << std::flush; }

 private:
  fs::path dir_;
  bool is_there_ = false;
};

/// Polls until the child has ended, for half a minute at most.
std::optional<os::Exit> ended(os::ChildProcess& child) {
  for (int i = 0; i < 600; ++i) {
    if (const auto exit = child.poll()) return exit;
    usleep(50'000);
  }
  return std::nullopt;
}

TEST(Process, SaysThatMemoryRanOutIfTheKernelKilledAProcess) {
  EXPECT_EQ(memory_hint(num_oom_kills()), "");
  const SmallGroup group;
  if (!group.is_there()) GTEST_SKIP() << "no right to create a control group on this machine";
  auto job = os::ChildProcess::fork([&] {
    group.enter();
    const std::int64_t before = num_oom_kills();
    auto greedy = os::ChildProcess::fork([] {
      std::vector<char> much(std::size_t{256} << 20, 'x');
      return much.back() == 'x' ? 0 : 1;
    });
    const auto exit = ended(greedy);
    if (!exit || exit->signal() != SIGKILL) return 1;
    const std::string hint = memory_hint(before);
    std::printf("%s\n", hint.c_str());
    return num_oom_kills() == before + 1 && hint.find("killed 1 process") != hint.npos ? 0 : 2;
  });
  const auto exit = ended(job);
  ASSERT_TRUE(exit);
  EXPECT_EQ(exit->code(), 0);
}

}  // namespace
}  // namespace traffic
