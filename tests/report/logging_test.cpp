#include "traffic/report/logging.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <spdlog/spdlog.h>
#include <sys/resource.h>

#include <csignal>

#include "report/fixtures.h"
#include "traffic/core/error.h"

namespace traffic::report {
namespace {

using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::Not;

class LoggingTest : public FolderTest {
 protected:
  std::filesystem::path logs_ = dir_ / "logs";
};

TEST_F(LoggingTest, RankZeroWritesAllItsFilesAndStderr) {
  const ChildResult child = run_child([this] {
    init_logging({.dir = logs_, .rank = 0, .world_size = 2});
    spdlog::debug("too fine");
    spdlog::info("step {}", 7);
    spdlog::warn("slow");
    return static_cast<int>(num_lost_log_lines());
  });
  EXPECT_EQ(child.exit_code, 0);
  const std::string pattern =
      "....-..-..T..:..:..\\....Z \\[rank 0\\] info: step 7\n"
      "....-..-..T..:..:..\\....Z \\[rank 0\\] warning: slow\n";
  EXPECT_THAT(read_text(logs_ / "train.log"), MatchesRegex(pattern));
  EXPECT_EQ(read_text(logs_ / "rank-0.log"), read_text(logs_ / "train.log"));
  EXPECT_THAT(read_text(logs_ / "error.log"), MatchesRegex("[^\n]*warning: slow\n"));
  EXPECT_THAT(child.stderr_text, MatchesRegex("..:..:.. info: step 7\n..:..:.. warning: slow\n"));
}

TEST_F(LoggingTest, OtherRanksShowOnlyErrorsAndShareErrorLog) {
  const ChildResult child = run_child([this] {
    init_logging({.dir = logs_, .rank = 3, .world_size = 4});
    spdlog::info("quiet");
    spdlog::error("disk on fire");
    return 0;
  });
  EXPECT_THAT(child.stderr_text, MatchesRegex("..:..:.. \\[rank 3\\] error: disk on fire\n"));
  EXPECT_EQ(lines_of(logs_ / "rank-3.log").size(), 2);
  EXPECT_THAT(read_text(logs_ / "error.log"), HasSubstr("[rank 3] error: disk on fire"));
  EXPECT_FALSE(std::filesystem::exists(logs_ / "train.log"));
}

TEST_F(LoggingTest, ErrorsOfRankZeroNameTheRankToo) {
  const ChildResult child = run_child([] {
    init_logging({.dir = "", .world_size = 2});
    spdlog::error("disk on fire");
    return 0;
  });
  EXPECT_THAT(child.stderr_text, MatchesRegex("..:..:.. \\[rank 0\\] error: disk on fire\n"));
}

TEST_F(LoggingTest, SingleProcessHasNoRank) {
  const ChildResult child = run_child([this] {
    init_logging({.dir = logs_});
    spdlog::error("no such file");
    return 0;
  });
  EXPECT_THAT(child.stderr_text, MatchesRegex("..:..:.. error: no such file\n"));
  EXPECT_THAT(read_text(logs_ / "train.log"), MatchesRegex("[^ ]*Z error: no such file\n"));
}

TEST_F(LoggingTest, UnknownLevelIsAConfigError) {
  EXPECT_THROW(init_logging({.dir = logs_, .level = "loud"}), ConfigError);
}

TEST_F(LoggingTest, WorksWithEveryStandardDescriptorClosed) {
  const ChildResult child = run_child([this] {
    for (int fd = 0; fd <= 2; ++fd) close(fd);
    init_logging({.dir = logs_});
    spdlog::info("still here");
    // The next file that the program opens must not get the descriptor of stderr.
    const int data = open((dir_ / "data").c_str(), O_WRONLY | O_CREAT, 0644);
    spdlog::error("not into the data");
    return data > 2 ? 0 : 1;
  });
  EXPECT_EQ(child.exit_code, 0);
  EXPECT_EQ(read_text(dir_ / "data"), "");
  EXPECT_EQ(lines_of(logs_ / "train.log").size(), 2);
}

TEST_F(LoggingTest, AClosedReaderOfStderrDoesNotEndTheProcess) {
  const ChildResult child = run_child([this] {
    signal(SIGPIPE, SIG_DFL);
    int ends[2];
    if (pipe(ends) != 0) return 1;
    dup2(ends[1], STDERR_FILENO);
    close(ends[0]);
    close(ends[1]);
    init_logging({.dir = logs_});
    spdlog::info("into the void");
    return num_lost_log_lines() == 1 ? 0 : 2;
  });
  EXPECT_EQ(child.exit_code, 0);
  EXPECT_THAT(read_text(logs_ / "train.log"), HasSubstr("into the void"));
}

TEST_F(LoggingTest, AStoppedReaderOfStderrBlocksNothing) {
  const ChildResult child = run_child([this] {
    int ends[2];
    if (pipe(ends) != 0) return 1;
    dup2(ends[1], STDERR_FILENO);  // ends[0] stays open and is not read
    init_logging({.dir = logs_});
    for (int i = 0; i < 3000; ++i) spdlog::info("a line of some length, number {}", i);
    return num_lost_log_lines() > 0 ? 0 : 2;
  });
  EXPECT_EQ(child.exit_code, 0);
  EXPECT_THAT(read_text(logs_ / "train.log"), HasSubstr("number 2999"));
}

TEST_F(LoggingTest, FolderThatCannotBeCreatedCostsLinesOnly) {
  write_text(dir_ / "file", "");
  const ChildResult child = run_child([this] {
    init_logging({.dir = dir_ / "file" / "logs"});
    spdlog::info("once");
    return num_lost_log_lines() == 2 ? 0 : 1;  // train.log and rank-0.log
  });
  EXPECT_EQ(child.exit_code, 0);
  EXPECT_THAT(child.stderr_text, HasSubstr("once"));
}

TEST_F(LoggingTest, RemovedFolderCostsLinesOnly) {
  const ChildResult child = run_child([this] {
    init_logging({.dir = logs_});
    std::filesystem::remove_all(logs_);
    spdlog::info("lost");
    const bool counted = num_lost_log_lines() == 2;
    for (int i = 0; i < 200 && !std::filesystem::exists(logs_ / "train.log"); ++i) {
      usleep(20'000);
      spdlog::info("found again");
    }
    return counted ? 0 : 1;
  });
  EXPECT_EQ(child.exit_code, 0);
  EXPECT_THAT(read_text(logs_ / "train.log"), HasSubstr("found again"));
}

TEST_F(LoggingTest, FullDiskCostsLinesOnly) {
  const ChildResult child = run_child([this] {
    signal(SIGXFSZ, SIG_IGN);
    const rlimit bytes{200, 200};
    setrlimit(RLIMIT_FSIZE, &bytes);
    init_logging({.dir = logs_});
    for (int i = 0; i < 10; ++i) spdlog::info("a line of some length, number {}", i);
    return num_lost_log_lines() > 0 ? 0 : 1;
  });
  EXPECT_EQ(child.exit_code, 0);
  const std::string log = read_text(logs_ / "train.log");
  EXPECT_TRUE(log.ends_with("\n")) << "the log ends in an incomplete line: " << log;
  EXPECT_THAT(log, Not(HasSubstr("number 9")));
}

}  // namespace
}  // namespace traffic::report
