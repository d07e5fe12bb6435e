// Runs jobs of real processes in which one rank fails. Checks their exit codes and output, and that
// they leave no processes or files behind.
#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <thread>

#include "traffic/core/clock.h"
#include "traffic/core/error.h"

namespace traffic::comm {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

const std::string kLauncher = TRAFFIC_SOURCE_DIR "/launch/mpirun.sh";
const std::string kProbe = TRAFFIC_BIN_DIR "/comm_probe";

struct Outcome {
  int exit_code = -1;
  std::string output;  ///< stdout and stderr
};

std::string token() { return "probe-token-" + std::to_string(getpid()); }

Outcome run(const std::string& command) {
  Outcome outcome;
  FILE* pipe = popen((command + " 2>&1").c_str(), "r");
  if (pipe == nullptr) return outcome;
  std::array<char, 4096> buffer{};
  while (const std::size_t n = fread(buffer.data(), 1, buffer.size(), pipe)) {
    outcome.output.append(buffer.data(), n);
  }
  const int status = pclose(pipe);
  outcome.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return outcome;
}

/// The launcher is killed after a minute, so that a hang only fails the test.
Outcome run_job(int num_ranks, const std::string& how, const std::string& options = "") {
  return run("timeout -k 1 60 " + kLauncher + " " + options + " -np " + std::to_string(num_ranks) +
             " " + kProbe + " " + how + " " + token());
}

/// The first line in which a rank reports a failure; empty if no rank does.
std::string first_report(const std::string& output) {
  std::istringstream lines(output);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("rank ") && line.find("exit code") != std::string::npos) return line;
  }
  return {};
}

int num_processes_of_this_test() {
  int count = 0;
  for (const auto& entry : fs::directory_iterator("/proc")) {
    std::ifstream file(entry.path() / "cmdline");
    const std::string line((std::istreambuf_iterator<char>(file)), {});
    if (line.find(kProbe) == 0 && line.find(token()) != std::string::npos) ++count;
  }
  return count;
}

/// Names of the files in /dev/shm that Open MPI or this project creates. Other programs that run
/// meanwhile may have further files there, which do not count.
std::set<std::string> files_in_shared_memory() {
  std::set<std::string> names;
  for (const auto& entry : fs::directory_iterator("/dev/shm")) {
    const std::string name = entry.path().filename().string();
    for (const char* prefix : {"vader", "osc", "ompi", "traffic"}) {
      if (name.starts_with(prefix)) names.insert(name);
    }
  }
  return names;
}

/// Checks that every job, however it ends, leaves no process and no file in /dev/shm behind.
class ProcessTest : public ::testing::Test {
 protected:
  void TearDown() override {
    for (int i = 0; i < 50 && !left_nothing(); ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
    EXPECT_EQ(num_processes_of_this_test(), 0);
    EXPECT_THAT(files_in_shared_memory(), ::testing::IsSubsetOf(before_));
  }
  [[nodiscard]] bool left_nothing() const {
    return num_processes_of_this_test() == 0 &&
           std::ranges::includes(before_, files_in_shared_memory());
  }
  std::set<std::string> before_ = files_in_shared_memory();
};

TEST_F(ProcessTest, AJobWithoutFaultEndsWithExitCode0) {
  for (const int n : {1, 3}) {
    const Outcome outcome = run_job(n, "none");
    EXPECT_EQ(outcome.exit_code, 0) << outcome.output;
    EXPECT_EQ(outcome.output, "all steps done\n");
  }
}

TEST_F(ProcessTest, RunsWithoutMpirunAsTheOnlyRank) {
  const Outcome outcome = run(kProbe + " none " + token());
  EXPECT_EQ(outcome.exit_code, 0) << outcome.output;
  EXPECT_EQ(outcome.output, "all steps done\n");
  EXPECT_EQ(run(kProbe + " throw " + token()).exit_code, 3);
}

TEST_F(ProcessTest, AStoppedRankIsNamedAndTheJobEndsWith7) {
  const Outcome outcome = run_job(3, "stop");
  EXPECT_EQ(outcome.exit_code, 7) << outcome.output;
  EXPECT_THAT(first_report(outcome.output),
              AllOf(HasSubstr("rank 2 (pid"), HasSubstr("did not come within 1 s"),
                    HasSubstr("all_reduce #")));
}

TEST_F(ProcessTest, ARankStoppedBeforeTheCommunicatorIsNamed) {
  const Outcome outcome = run_job(3, "stop-at-start");
  EXPECT_EQ(outcome.exit_code, 7) << outcome.output;
  EXPECT_THAT(first_report(outcome.output), HasSubstr("rank 2 did not come within 1 s"));
}

TEST_F(ProcessTest, AKilledRankEndsTheJob) {
  for (const char* how : {"kill", "segv", "exit"}) {
    const Outcome outcome = run_job(2, how);
    EXPECT_NE(outcome.exit_code, 0) << how << outcome.output;
    EXPECT_NE(outcome.exit_code, 124) << how << " hung";
    EXPECT_THAT(outcome.output, Not(HasSubstr("all steps done")));
  }
}

TEST_F(ProcessTest, AKilledLauncherTakesItsRanksAlong) {
  const Outcome outcome =
      run(kLauncher + " -np 2 " + kProbe + " none " + token() + " & sleep 0.7; kill -9 $!; wait");
  EXPECT_THAT(outcome.output, Not(HasSubstr("all steps done")));
}

TEST_F(ProcessTest, TheMessageIsThatOfTheRankThatThrew) {
  for (int i = 0; i < 5; ++i) {
    const Outcome outcome = run_job(3, "throw");
    EXPECT_EQ(outcome.exit_code, 3) << outcome.output;
    EXPECT_THAT(first_report(outcome.output),
                AllOf(HasSubstr("rank 2 of 3 on "), HasSubstr("shard 7 is damaged")));
  }
}

TEST_F(ProcessTest, MpirunAddsNoTextOfItsOwnToAFailure) {
  const Outcome outcome = run_job(2, "throw");
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_EQ(std::ranges::count(outcome.output, '\n'), 1) << outcome.output;
}

TEST_F(ProcessTest, MpirunAddsNoTextOfItsOwnToAnAgreedStop) {
  const Outcome outcome = run_job(3, "stopped");
  EXPECT_EQ(outcome.exit_code, 75);
  EXPECT_EQ(outcome.output, "all steps done\n");
}

TEST_F(ProcessTest, AnyExceptionGivesALineAndAnExitCode) {
  Outcome outcome = run_job(2, "other");
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(first_report(outcome.output),
              AllOf(HasSubstr("rank 1 of 2"), HasSubstr("index 9 (")));
  outcome = run_job(2, "memory");
  EXPECT_EQ(outcome.exit_code, 8);
  EXPECT_THAT(first_report(outcome.output), HasSubstr("out of memory"));
}

TEST_F(ProcessTest, RanksThatCallDifferentCollectivesEndTheJobWith7) {
  for (const char* how : {"skip", "shape"}) {
    const Outcome outcome = run_job(2, how);
    EXPECT_EQ(outcome.exit_code, 7) << outcome.output;
    EXPECT_THAT(first_report(outcome.output),
                AllOf(HasSubstr("different paths"), HasSubstr("all_reduce #22")));
  }
}

TEST_F(ProcessTest, TasksThatSrunStartsWithoutMpiAreRefused) {
  const Outcome outcome = run("env SLURM_STEP_NUM_TASKS=2 " + kProbe + " none " + token());
  EXPECT_EQ(outcome.exit_code, 2) << outcome.output;
  EXPECT_THAT(outcome.output, HasSubstr("2 tasks that do not know each other"));
  EXPECT_EQ(run("env SLURM_STEP_NUM_TASKS=1 " + kProbe + " none " + token()).exit_code, 0);
}

TEST_F(ProcessTest, RecoveryModeIsRefused) {
  const Outcome outcome = run_job(2, "none", "--enable-recovery");
  // The exit code is not checked: in this mode mpirun returns 0 whatever its processes return.
  EXPECT_THAT(outcome.output, Not(HasSubstr("all steps done")));
  EXPECT_THAT(outcome.output, HasSubstr("rank 0: mpirun --enable-recovery"));
  EXPECT_THAT(outcome.output, Not(HasSubstr("rank 1: mpirun --enable-recovery")));
}

}  // namespace
}  // namespace traffic::comm
