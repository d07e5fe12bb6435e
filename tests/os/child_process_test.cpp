#include "traffic/os/child_process.h"

#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <string>
#include <system_error>
#include <thread>

#include "traffic/os/process_id.h"

namespace traffic::os {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

/// Waits until the condition is true. The limit only keeps a broken build from hanging.
template <typename Condition>
bool eventually(Condition condition) {
  for (int i = 0; i < 20000; ++i) {
    if (condition()) return true;
    usleep(1000);
  }
  return false;
}

TEST(RunProgram, KeepsBothOutputsAndTheExitCode) {
  const auto output = run_program("/bin/sh", {"-c", "echo out; echo error >&2; exit 3"});
  EXPECT_EQ(output.out, "out\n");
  EXPECT_EQ(output.error, "error\n");
  EXPECT_EQ(output.exit.code(), 3);
  EXPECT_EQ(output.exit.describe(), "ended with exit code 3");
  EXPECT_FALSE(output.stopped);
}

TEST(RunProgram, ReadsMoreOutputThanAPipeHolds) {
  const auto output = run_program("/bin/sh", {"-c", "head -c 1000000 /dev/zero"});
  EXPECT_EQ(output.out.size(), 1'000'000U);
}

TEST(RunProgram, AProgramThatIsMissingIsNamedWithTheReason) {
  EXPECT_THAT([] { run_program("/no/such/program", {}); },
              ThrowsMessage<std::system_error>(
                  HasSubstr("cannot start /no/such/program: No such file or directory")));
  EXPECT_THAT([] { run_program("/dev/null", {}); },
              ThrowsMessage<std::system_error>(HasSubstr("Permission denied")));
}

TEST(RunProgram, ReturnsLinesOfStderrThatTheCallerDidNotTake) {
  std::vector<std::string> taken;
  const auto output = run_program(
      "/bin/sh",
      {"-c", "echo '1 of 2' >&2; echo wrong >&2; sleep 0.3; echo '2 of 2' >&2; printf end >&2"}, {},
      [&](std::string_view line) {
        const bool is_progress = line.find(" of ") != std::string_view::npos;
        if (is_progress) taken.emplace_back(line);
        return is_progress;
      });
  EXPECT_THAT(taken, ::testing::ElementsAre("1 of 2", "2 of 2"));
  EXPECT_EQ(output.error, "wrong\nend");
}

TEST(RunProgram, IsKilledWhenAStopIsRequested) {
  const auto output = run_program("/bin/sleep", {"600"}, [] { return true; });
  EXPECT_TRUE(output.stopped);
  EXPECT_EQ(output.exit.signal(), SIGKILL);
  EXPECT_EQ(output.exit.code(), 128 + SIGKILL);
  EXPECT_THAT(output.exit.describe(), HasSubstr("was killed by signal 9"));
}

TEST(ChildProcess, IsGivenItsDescriptorsAndSettings) {
  Pipe pipe = make_pipe();
  auto child = ChildProcess::run({.program = "/bin/sh",
                                  .args = {"-c", "echo \"$NAME\" >&7"},
                                  .fds = {{7, pipe.write_end.get()}},
                                  .set_environment = {"NAME=value"}});
  pipe.write_end.reset();
  std::array<std::byte, 16> bytes{};
  EXPECT_EQ(read_some(pipe.read_end.get(), bytes), 6);
  EXPECT_TRUE(child.wait().well());
  EXPECT_FALSE(child.exists());
}

TEST(ChildProcess, IsKilledAndReapedByItsOwner) {
  pid_t pid = -1;
  {
    auto child = ChildProcess::run({.program = "/bin/sleep", .args = {"600"}});
    pid = child.pid();
    EXPECT_FALSE(child.poll().has_value());
    const ChildProcess moved = std::move(child);
    EXPECT_FALSE(child.exists());
    EXPECT_EQ(::kill(pid, 0), 0);
  }
  EXPECT_EQ(::kill(pid, 0), -1);
}

TEST(ChildProcess, DoesNotOutliveTheProcessThatStartedIt) {
  Pipe pipe = make_pipe();
  auto parent = ChildProcess::fork([&] {
    const auto child = ChildProcess::run({.program = "/bin/sleep", .args = {"600"}});
    const pid_t pid = child.pid();
    write_all(pipe.write_end.get(), std::as_bytes(std::span(&pid, 1)));
    pause();
    return 0;
  });
  pid_t grandchild = 0;
  ASSERT_EQ(read_some(pipe.read_end.get(), std::as_writable_bytes(std::span(&grandchild, 1))),
            static_cast<long>(sizeof(grandchild)));
  const auto ticks = process_start_ticks(grandchild);
  EXPECT_TRUE(is_running(grandchild, ticks));
  parent.kill();
  EXPECT_EQ(parent.wait().signal(), SIGKILL);
  EXPECT_TRUE(eventually([&] { return !is_running(grandchild, ticks); }));
}

TEST(ChildProcess, AFunctionsResultIsTheExitCode) {
  EXPECT_EQ(ChildProcess::fork([] { return 42; }).wait().code(), 42);
  EXPECT_EQ(
      ChildProcess::fork([]() -> int { throw std::runtime_error("on purpose"); }).wait().code(), 1);
}

TEST(Descriptor, IsNullWhenMovedFrom) {
  Pipe pipe = make_pipe();
  const int fd = pipe.read_end.get();
  const Descriptor taken = std::move(pipe.read_end);
  EXPECT_EQ(taken.get(), fd);
  EXPECT_FALSE(pipe.read_end.is_open());
}

TEST(ChildProcess, AnExpendableChildIsKilledFirstAndLeavesNoCoreFile) {
  for (const bool expendable : {false, true}) {
    Pipe pipe = make_pipe();
    ChildProcess child =
        ChildProcess::run({.program = "/bin/sh",
                           .args = {"-c", "echo $(cat /proc/self/oom_score_adj) $(ulimit -H -c)"},
                           .fds = {{1, pipe.write_end.get()}},
                           .expendable = expendable});
    pipe.write_end.reset();
    std::array<std::byte, 64> said{};
    const long got = read_some(pipe.read_end.get(), said);
    child.wait();
    const std::string text(reinterpret_cast<const char*>(said.data()),
                           static_cast<std::size_t>(std::max(0L, got)));
    EXPECT_EQ(text == "500 0\n", expendable) << text;
  }
}

}  // namespace
}  // namespace traffic::os
