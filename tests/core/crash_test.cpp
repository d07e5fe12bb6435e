#include "traffic/core/crash.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>

#include "traffic/os/child_process.h"
#include "traffic/os/descriptor.h"

namespace traffic {
namespace {

namespace fs = std::filesystem;

/// Prepares the process that will crash: it writes no core file.
void prepare(const fs::path& log) {
  const rlimit none{0, 0};
  setrlimit(RLIMIT_CORE, &none);
  install_crash_handlers("rank 7");
  set_crash_log(log.string());
}

// The volatile argument keeps the compiler from turning the recursion into a loop.
[[gnu::noinline]] int without_end(volatile int* depth) {
  if (*depth < 0) return 0;  // never true, because the depth only grows
  volatile char room[4096];
  room[0] = static_cast<char>(*depth);
  const int next = *depth + 1;
  volatile int deeper = next;
  return without_end(&deeper) + room[0];
}

class CrashDeathTest : public ::testing::Test {
 protected:
  ~CrashDeathTest() override { fs::remove(log_); }
  [[nodiscard]] std::string log() const {
    std::ifstream in(log_);
    return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  }
  fs::path log_ = fs::temp_directory_path() / ("crash_test_" + std::to_string(getpid()));
};

TEST_F(CrashDeathTest, ReportsNameSignalAndPlaceAndDiesOfTheSignal) {
  EXPECT_EXIT(
      {
        prepare(log_);
        std::raise(SIGSEGV);
      },
      ::testing::KilledBySignal(SIGSEGV), "rank 7 crashed by SIGSEGV.*\n.*test_core.*0x");
  EXPECT_THAT(log(), ::testing::HasSubstr("rank 7 crashed by SIGSEGV"));
  EXPECT_THAT(log(), ::testing::HasSubstr("test_core"));
  EXPECT_EXIT(
      {
        prepare({});
        std::abort();
      },
      ::testing::KilledBySignal(SIGABRT), "rank 7 crashed by SIGABRT");
}

/// The log is a pipe. The first report waits until the test reads the pipe, and meanwhile a second
/// thread crashes.
TEST_F(CrashDeathTest, ASecondThreadThatCrashesDoesNotCutOffTheReport) {
  ASSERT_EQ(mkfifo(log_.c_str(), 0600), 0);
  os::ChildProcess child = os::ChildProcess::fork([this] {
    prepare(log_);
    std::thread first([] { std::raise(SIGSEGV); });
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    std::raise(SIGSEGV);
    first.join();
    return 0;
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(600));
  const int reader = ::open(log_.c_str(), O_RDONLY | O_NONBLOCK);
  std::string report;
  const os::Exit exit = child.wait();
  std::array<std::byte, 65536> room{};
  for (long got = 0; (got = os::read_some(reader, room)) > 0;) {
    report.append(reinterpret_cast<const char*>(room.data()), static_cast<std::size_t>(got));
  }
  ::close(reader);
  EXPECT_EQ(exit.signal(), SIGSEGV);
  EXPECT_THAT(report, ::testing::HasSubstr("rank 7 crashed by SIGSEGV"));
  EXPECT_THAT(report, ::testing::HasSubstr("test_core"));
}

TEST_F(CrashDeathTest, AStackOverflowIsReportedOnAnotherStack) {
  EXPECT_EXIT(
      {
        prepare({});
        rlimit small{};
        small.rlim_cur = 256 << 10;
        small.rlim_max = RLIM_INFINITY;
        setrlimit(RLIMIT_STACK, &small);
        volatile int depth = 0;
        ::_exit(without_end(&depth) == 0 ? 0 : 1);
      },
      ::testing::KilledBySignal(SIGSEGV), "rank 7 crashed by SIGSEGV");
}

}  // namespace
}  // namespace traffic
