#include "traffic/report/run_reader.h"

#include <gmock/gmock.h>
#include <signal.h>
#include <sys/wait.h>

#include <chrono>
#include <cmath>

#include "report/fixtures.h"
#include "traffic/core/error.h"
#include "traffic/core/process.h"
#include "traffic/os/process_id.h"
#include "traffic/report/csv_writer.h"
#include "traffic/report/metrics.h"
#include "traffic/report/summary.h"

namespace traffic::report {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

class RunReaderTest : public FolderTest {
 protected:
  RunReaderTest() { write_text(dir_ / "config.toml", "[run]\n"); }

  static void write_status(const std::filesystem::path& dir, const std::string& status) {
    Summary summary;
    summary.status = status;
    write_summary(dir / "summary.json", summary);
  }
  void write_lock(const LockHolder& holder) { write_text(dir_ / "run.lock", to_text(holder)); }

  /// Reads a summary with this text. @return the message of the refusal
  std::string refusal(const std::string& text) {
    write_text(dir_ / "summary.json", text);
    try {
      (void)RunReader(dir_).summary();
    } catch (const DataError& error) {
      return error.what();
    }
    return "";
  }
};

/// A child process whose id a test writes into a lock. It runs until the destructor kills it.
class Child {
 public:
  Child() : pid_(traffic::test::fork_child()) {
    if (pid_ == 0) {
      pause();
      _exit(0);
    }
  }
  ~Child() {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  [[nodiscard]] LockHolder holder() const {
    return {.pid = pid_,
            .start_ticks = os::process_start_ticks(pid_),
            .host = hostname(),
            .since = "2025-01-31T17:05:09.123Z"};
  }
  void become_zombie() const {
    kill(pid_, SIGKILL);
    siginfo_t info{};
    EXPECT_EQ(waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOWAIT), 0);
  }

 private:
  pid_t pid_;
};

TEST_F(RunReaderTest, AFolderThatIsNotARunIsRefusedByName) {
  EXPECT_THROW(RunReader(dir_ / "gone"), DataError);
  std::filesystem::create_directory(dir_ / "logs");
  EXPECT_THROW(RunReader(dir_ / "logs"), DataError);
}

TEST_F(RunReaderTest, TheNewestRunsAreThoseLastWrittenTo) {
  namespace fs = std::filesystem;
  const fs::path runs = dir_ / "runs";
  const auto now = fs::file_time_type::clock::now();
  int age_s = 0;
  for (const char* name : {"a/2", "b", "a/1"}) {
    write_text(runs / name / "config.toml", "[run]\n");
    fs::last_write_time(runs / name / "config.toml", now - std::chrono::seconds(++age_s));
  }
  // The folder b/phase1 is a part of the run b, so it is not listed.
  write_text(runs / "b/run.lock", "");
  write_text(runs / "b/phase1/config.toml", "[run]\n");
  EXPECT_THAT(newest_runs(runs, 9), ElementsAre(runs / "a/2", runs / "b", runs / "a/1"));
  write_text(runs / "a/1/logs/train.log", "info: goes on\n");
  EXPECT_THAT(newest_runs(runs, 2), ElementsAre(runs / "a/1", runs / "a/2"));
  EXPECT_THAT(newest_runs(dir_ / "gone", 9), IsEmpty());
}

TEST_F(RunReaderTest, ARunThatHasWrittenNothingYetIsEmpty) {
  const RunReader run(dir_);
  EXPECT_FALSE(run.summary());
  EXPECT_FALSE(run.evaluation());
  EXPECT_THAT(run.metrics().rows, IsEmpty());
  EXPECT_THAT(run.episodes().columns, IsEmpty());
  EXPECT_THAT(run.parts(), IsEmpty());
}

TEST_F(RunReaderTest, ReadsTheFilesOfTheWriters) {
  write_status(dir_, "done");
  MetricsWriter metrics(dir_ / "metrics.jsonl");
  metrics.write(1, 10.5, {{"train/loss", 0.5}, {"train/grad_norm", std::nan("")}});
  metrics.write(2, 11.5, {{"train/loss", 0.25}});
  CsvWriter episodes(dir_ / "episodes.csv", {"scenario", "reward"});
  episodes.write(7, {std::string("a \"b\", c"), -1.5});
  const RunReader run(dir_);
  EXPECT_EQ(run.summary().value()["status"], "done");
  const Metrics read = run.metrics();
  ASSERT_EQ(read.rows.size(), 2U);
  EXPECT_EQ(read.rows[0].time_s, 10.5);
  const std::vector<SeriesPoint> loss = read.series("train/loss");
  ASSERT_EQ(loss.size(), 2U);
  EXPECT_EQ(loss[1].step, 2);
  EXPECT_EQ(loss[1].value, 0.25);
  ASSERT_EQ(read.series("train/grad_norm").size(), 1U);
  EXPECT_TRUE(std::isnan(read.series("train/grad_norm")[0].value));
  EXPECT_THAT(read.series("no/such"), IsEmpty());
  EXPECT_THAT(run.episodes().columns, ElementsAre("step", "scenario", "reward"));
  EXPECT_THAT(run.episodes().rows, ElementsAre(ElementsAre("7", "a \"b\", c", "-1.5")));
  EXPECT_THAT(read.damaged, IsEmpty());
  EXPECT_FALSE(read.ends_in_half_line);
}

TEST_F(RunReaderTest, ADamagedSummaryIsRefusedWithFileAndLine) {
  const std::string file = (dir_ / "summary.json").string();
  EXPECT_THAT(refusal("{\n  \"status\": \"done\",\n  \"steps\": 1"), StartsWith(file + ":3: "));
  EXPECT_THAT(refusal("{\n  \"seconds\": NaN\n}\n"), StartsWith(file + ":2: "));
  EXPECT_THAT(refusal(""), StartsWith(file + ":1: "));
  EXPECT_THAT(refusal("[1, 2]\n"), StartsWith(file + ":1: "));
  EXPECT_THROW((void)RunReader(dir_).status(), DataError);
}

TEST_F(RunReaderTest, AnIncompleteLastLineIsLeftOutAndReported) {
  write_text(dir_ / "metrics.jsonl", "{\"step\":1,\"loss\":2}\n{\"step\":2,\"lo");
  // The last number may have been cut off, so that it looks like another number.
  write_text(dir_ / "episodes.csv", "step,reward\n1,20.5\n2,20");
  const RunReader run(dir_);
  EXPECT_EQ(run.metrics().rows.size(), 1U);
  EXPECT_TRUE(run.metrics().ends_in_half_line);
  EXPECT_THAT(run.metrics().damaged, IsEmpty());
  EXPECT_THAT(run.episodes().rows, ElementsAre(ElementsAre("1", "20.5")));
  EXPECT_TRUE(run.episodes().ends_in_half_line);
}

TEST_F(RunReaderTest, DamagedLinesAreNamedAndTheOthersRead) {
  write_text(dir_ / "metrics.jsonl",
             "{\"step\":1,\"loss\":NaN}\n"
             "{\"step\":2,\"loss\":1}\n"
             "\n"
             "{\"step\":\"x\"}\n"
             "{\"step\":5,\"loss\":\"text\"}\n"
             "{\"step\":6,\"loss\":null}\n");
  const std::string file = (dir_ / "metrics.jsonl").string();
  const Metrics metrics = RunReader(dir_).metrics();
  EXPECT_THAT(
      metrics.damaged,
      ElementsAre(file + ":1: no JSON object", file + ":3: no JSON object", file + ":4: no step",
                  file + ":5: loss is \"text\", neither a number nor null"));
  ASSERT_EQ(metrics.rows.size(), 2U);
  EXPECT_EQ(metrics.rows[1].step, 6);
  write_text(dir_ / "episodes.csv", "step,reward\n1\n2,\"3\n3,4\n");
  const Episodes episodes = RunReader(dir_).episodes();
  EXPECT_THAT(episodes.damaged, ElementsAre(HasSubstr("episodes.csv:2: 1 fields for 2 columns"),
                                            HasSubstr("episodes.csv:3: a quote")));
  EXPECT_THAT(episodes.rows, ElementsAre(ElementsAre("3", "4")));
}

TEST_F(RunReaderTest, EmptyFilesHaveNoRows) {
  write_text(dir_ / "metrics.jsonl", "");
  write_text(dir_ / "episodes.csv", "");
  EXPECT_THAT(RunReader(dir_).metrics().rows, IsEmpty());
  EXPECT_THAT(RunReader(dir_).episodes().columns, IsEmpty());
  EXPECT_FALSE(RunReader(dir_).metrics().ends_in_half_line);
}

TEST_F(RunReaderTest, NamesTheHolderWithoutTakingTheLock) {
  const Child child;
  write_lock(child.holder());
  const std::string before = read_text(dir_ / "run.lock");
  const auto holder = RunReader(dir_).holder();
  ASSERT_TRUE(holder);
  EXPECT_EQ(holder->pid, child.holder().pid);
  EXPECT_EQ(holder->host, hostname());
  EXPECT_EQ(RunReader(dir_).status(), RunStatus::kRunning);
  EXPECT_EQ(read_text(dir_ / "run.lock"), before);
}

TEST_F(RunReaderTest, DeadProcessesAndZombiesHoldNoLock) {
  LockHolder gone;
  {
    const Child child;
    gone = child.holder();
    write_lock(gone);
    child.become_zombie();
    EXPECT_FALSE(RunReader(dir_).holder());
  }
  EXPECT_FALSE(RunReader(dir_).holder());
  EXPECT_EQ(RunReader(dir_).status(), RunStatus::kDead);
  gone.pid = getpid();  // another process now has this id
  write_lock(gone);
  EXPECT_EQ(RunReader(dir_).status(), RunStatus::kDead);
  write_text(dir_ / "run.lock", "");
  EXPECT_FALSE(RunReader(dir_).holder());
  write_text(dir_ / "run.lock", "-1 x\n");
  EXPECT_FALSE(RunReader(dir_).holder());
}

TEST_F(RunReaderTest, AProcessOfAnotherMachineCountsAsRunning) {
  write_lock({.pid = 1, .start_ticks = 1, .host = "far-away", .since = "2025-01-31T17:05:09Z"});
  const auto holder = RunReader(dir_).holder();
  ASSERT_TRUE(holder);
  EXPECT_EQ(holder->describe(), "pid 1 on far-away since 2025-01-31T17:05:09Z");
}

TEST_F(RunReaderTest, WithoutAHolderTheStatusIsThatOfTheSummary) {
  for (const char* status : {"done", "stopped", "failed"}) {
    write_status(dir_, status);
    EXPECT_EQ(to_string(RunReader(dir_).status()), status);
  }
  write_status(dir_, "confused");
  EXPECT_THROW((void)RunReader(dir_).status(), DataError);
  // The summary was written by an earlier process.
  write_status(dir_, "stopped");
  const Child child;
  write_lock(child.holder());
  EXPECT_EQ(RunReader(dir_).status(), RunStatus::kRunning);
}

TEST_F(RunReaderTest, FindsThePartsOfARunAndTheLockAboveThem) {
  for (const char* name : {"phase2", "another", "logs", "checkpoints"}) {
    std::filesystem::create_directory(dir_ / name);
  }
  write_status(dir_ / "another", "done");
  write_text(dir_ / "phase2/config.toml", "[run]\n");
  write_text(dir_ / "logs/train.log", "x\n");
  const std::vector<RunReader> parts = RunReader(dir_).parts();
  ASSERT_EQ(parts.size(), 2U);
  EXPECT_EQ(parts[0].folder().root(), dir_ / "another");
  EXPECT_EQ(parts[1].folder().root(), dir_ / "phase2");
  EXPECT_EQ(parts[1].status(), RunStatus::kDead);
  const Child child;
  write_lock(child.holder());
  const std::vector<RunReader> held = RunReader(dir_).parts();
  EXPECT_EQ(held[0].status(), RunStatus::kDone);
  EXPECT_EQ(held[1].status(), RunStatus::kRunning);
  EXPECT_EQ(RunReader(dir_ / "phase2/").status(), RunStatus::kRunning);
}

}  // namespace
}  // namespace traffic::report
