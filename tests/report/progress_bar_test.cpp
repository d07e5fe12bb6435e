#include "traffic/report/progress_bar.h"

#include <gmock/gmock.h>
#include <pty.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "report/fixtures.h"
#include "traffic/core/error.h"
#include "traffic/report/logging.h"

namespace traffic::report {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::Not;

TEST(ProgressBar, WritesPlainLinesWithoutATerminal) {
  const ChildResult child = run_child([] {
    init_logging({});
    ProgressBar bar({.label = "phase 1", .total_steps = 4, .line_interval_s = 0.0});
    for (int step = 1; step <= 4; ++step) {
      usleep(2000);
      bar.update(step, 32, {{"loss", 0.5}});
    }
    return 0;
  });
  EXPECT_EQ(child.exit_code, 0);
  EXPECT_THAT(child.stderr_text, Not(HasSubstr("\r")));
  EXPECT_THAT(child.stderr_text, HasSubstr("info: phase 1: 25 % (1/4), "));
  EXPECT_THAT(child.stderr_text, MatchesRegex(".*samples/s, loss 0.5, .* left\n(.|\n)*"));
  EXPECT_THAT(child.stderr_text,
              MatchesRegex("(.|\n)*100 % \\(4/4\\), [0-9.e+]+ samples/s, loss 0.5\n"));
}

TEST(ProgressBar, ALineAppearsWhenTheTaskAdvancedByFivePercent) {
  const ChildResult child = run_child([] {
    init_logging({});
    ProgressBar bar({.label = "search", .total_steps = 1000, .line_interval_s = 0.0});
    for (int step = 0; step <= 1000; ++step) bar.update(step, 1, {});
    for (int i = 0; i < 100; ++i) bar.update(1000 - 1, 1, {});  // time passes, but no step is added
    return 0;
  });
  EXPECT_EQ(std::ranges::count(child.stderr_text, '\n'), 20);
  EXPECT_THAT(child.stderr_text, HasSubstr("search: 5 % (50/1000)"));
  EXPECT_THAT(child.stderr_text, Not(HasSubstr("search: 0 %")));
}

TEST(ProgressBar, LinesAreRareButTheLastStepIsAlwaysShown) {
  const ChildResult child = run_child([] {
    init_logging({});
    ProgressBar bar({.label = "phase 2", .total_steps = 1000, .line_interval_s = 3600.0});
    for (int step = 1; step <= 1000; ++step) bar.update(step, 1, {});
    return 0;
  });
  EXPECT_THAT(child.stderr_text, MatchesRegex("[^\n]*phase 2: 100 % \\(1000/1000\\)[^\n]*\n"));
}

TEST(ProgressBar, TheBarGivesWayToLogLinesAndIsRemoved) {
  const ChildResult child = run_child([] {
    init_logging({});
    ProgressBar bar({.label = "phase 1", .total_steps = 2, .mode = "on"});
    bar.update(2, 32, {});
    spdlog::warn("careful");
    return 0;
  });
  // Expected are: clear and draw the bar; clear it for the log line and draw it again; clear it at
  // the end.
  const std::string clear = "\r\033\\[K";
  const std::string drawn = "\\[=*\\] phase 1[^\n\r]*";
  EXPECT_THAT(child.stderr_text,
              MatchesRegex(clear + drawn + clear + "[^\n\r]*careful\n" + drawn + clear));
}

class ProgressBarOnATerminal : public FolderTest {};

TEST_F(ProgressBarOnATerminal, TheLogFilesGetItsLinesToo) {
  int terminal = -1;
  int slave = -1;
  ASSERT_EQ(openpty(&terminal, &slave, nullptr, nullptr, nullptr), 0);
  const ChildResult child = run_child([&] {
    dup2(slave, STDERR_FILENO);
    setenv("TERM", "xterm", 1);
    unsetenv("OMPI_COMM_WORLD_RANK");
    init_logging({.dir = dir_});
    ProgressBar bar({.label = "phase 1", .total_steps = 4, .line_interval_s = 0.0});
    for (int step = 1; step <= 4; ++step) {
      usleep(2000);
      bar.update(step, 32, {{"loss", 0.5}});
    }
    return 0;
  });
  EXPECT_EQ(child.exit_code, 0);
  close(slave);
  std::string seen(4096, '\0');
  const ssize_t length = read(terminal, seen.data(), seen.size());
  close(terminal);
  ASSERT_GT(length, 0);
  seen.resize(static_cast<std::size_t>(length));
  EXPECT_THAT(seen, HasSubstr("[====================] phase 1: 100 % (4/4)"));
  EXPECT_THAT(seen, Not(HasSubstr("info:")))
      << "the terminal must show the bar in place of log lines";
  const auto lines = lines_of(dir_ / "train.log");
  ASSERT_EQ(lines.size(), 4U);
  EXPECT_THAT(lines.front(), MatchesRegex(".*Z info: phase 1: 25 % \\(1/4\\), .*loss 0.5.*"));
  EXPECT_EQ(lines_of(dir_ / "rank-0.log").size(), 4U);
}

TEST(ProgressBar, UnknownTotalShowsTheStep) {
  ProgressBar bar({.label = "phase 2", .unit = "steps", .mode = "off", .line_interval_s = 0.0});
  bar.update(12, 100, {});
  EXPECT_THAT(bar.text(), MatchesRegex("phase 2: step 12, [0-9.e+]+ steps/s"));
}

TEST(ProgressBar, RatesOfAResumedRunCountFromItsFirstStep) {
  ProgressBar bar({.label = "p",
                   .total_steps = 1000,
                   .first_step = 500,
                   .mode = "off",
                   .line_interval_s = 0.0});
  usleep(200'000);
  bar.update(550, 1, {});
  // The 50 steps took at least 0.2 s, so the 450 that are left take at least 1.8 s.
  EXPECT_THAT(bar.text(), AllOf(HasSubstr("s left"), Not(HasSubstr("ms left"))));
}

TEST(ProgressBar, UnknownModeIsAConfigError) {
  EXPECT_THROW(ProgressBar({.label = "p", .mode = "maybe"}), ConfigError);
}

}  // namespace
}  // namespace traffic::report
