// Kills, stops and removes simulations, workers, ranks and mpirun, and checks from outside what the
// real processes do.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "rollout/traffic/job.h"
#include "support/injected.h"

namespace traffic::rollout {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::Job;

constexpr int kWorkersCode = 6;
constexpr int kResourcesCode = 8;
/// Limit for processes to end. It takes them a second or two; a busy machine must not fail the
/// tests.
constexpr double kGone_s = 30;

std::vector<std::string> small(std::vector<std::string> more) {
  std::vector<std::string> args = {"--set", "rollout.workers=2", "--set",
                                   "rollout.envs_per_worker=2"};
  args.insert(args.end(), more.begin(), more.end());
  return args;
}

void strike(pid_t pid, int signal_number) {
  test::tell_injected("signal " + std::to_string(signal_number) + " to process " +
                      std::to_string(pid));
  kill(pid, signal_number);
}

bool gone(const Job& job) {
  return job.eventually([&] { return job.all_pids().empty(); }, kGone_s);
}

/// Expects that the job has left no processes, no temporary files and no files in its substitute of
/// /dev/shm.
void expect_nothing_left(const Job& job) {
  EXPECT_TRUE(gone(job)) << job.output();
  EXPECT_THAT(job.files_left(), IsEmpty()) << job.output();
}

/// Lines that begin with "episode", in the order of their seeds.
std::set<std::string> episodes(const Job& job) {
  std::set<std::string> found;
  const std::string all = job.output();
  for (std::size_t at = all.find("episode seed"); at != std::string::npos;
       at = all.find("episode seed", at + 1)) {
    found.insert(all.substr(at, all.find('\n', at) - at));
  }
  return found;
}

TEST(RolloutFaults, TheRanksWaitForWorkersThatStartLate) {
  Job job({.plain_mpirun = true,
           .fault = "rollout_worker.start:*:*:slow:3000",
           .args = small({"--episodes", "2"})});
  EXPECT_EQ(job.wait(), 0) << job.output();
  EXPECT_EQ(job.count("trying once more"), 0) << job.output();
  EXPECT_EQ(job.count("episode seed"), 2) << job.output();
  expect_nothing_left(job);
}

TEST(RolloutFaults, AWorkerThatFailsAtItsStartEndsTheJobWithItsReason) {
  Job job(
      {.ranks = 2, .fault = "rollout_worker.start:*:*:throw", .args = small({"--episodes", "2"})});
  EXPECT_EQ(job.wait(), kWorkersCode) << job.output();
  EXPECT_THAT(job.output(), HasSubstr("rollout_worker on "));
  expect_nothing_left(job);
}

TEST(RolloutFaults, ASpawnThatFailsIsTriedOnceMore) {
  Job job({.ranks = 2, .fault = "rollout.spawn:*:1:fail", .args = small({"--episodes", "2"})});
  EXPECT_EQ(job.wait(), 0) << job.output();
  EXPECT_EQ(job.count("could not be started"), 1) << job.output();
  EXPECT_EQ(job.count("trying once more"), 1) << job.output();
  EXPECT_EQ(job.count("episode seed"), 2) << job.output();
  expect_nothing_left(job);
}

TEST(RolloutFaults, WorkersOfAnAbandonedSpawnExitByThemselves) {
  Job job({.ranks = 2, .fault = "rollout.spawned:*:1:fail", .args = small({"--episodes", "2"})});
  EXPECT_EQ(job.wait(), 0) << job.output();
  EXPECT_EQ(job.count("trying once more"), 1) << job.output();
  EXPECT_EQ(job.count("episode seed"), 2) << job.output();
  expect_nothing_left(job);
}

TEST(RolloutFaults, ASpawnThatFailsTwiceEndsTheJobWithTheReason) {
  Job job({.ranks = 2,
           .fault = "rollout.spawn:*:1:fail,rollout.spawn:*:2:fail",
           .args = small({"--episodes", "2"})});
  EXPECT_EQ(job.wait(), kWorkersCode) << job.output();
  EXPECT_THAT(job.output(), HasSubstr("the rollout workers could not be started"));
  expect_nothing_left(job);
}

TEST(RolloutFaults, AKilledSimulationCostsItsEpisodeOnly) {
  Job job({.ranks = 2, .args = small({"--forever"})});
  ASSERT_TRUE(job.ready()) << job.output();
  const auto ranks = job.pids("rollout_driver");
  strike(job.pids("sumo_env").at(0), SIGKILL);
  ASSERT_TRUE(job.says("killed by signal 9")) << job.output();
  ASSERT_TRUE(job.eventually([&] { return job.pids("sumo_env").size() == 4; }));
  EXPECT_EQ(job.pids("rollout_driver"), ranks);
  job.signal(SIGUSR1);
  EXPECT_EQ(job.wait(), 0) << job.output();
  EXPECT_THAT(job.output(), HasSubstr("lost 1 restarts 1 timeouts 0"));
}

TEST(RolloutFaults, AllSimulationsKilledAtOnceAreReplaced) {
  Job job({.ranks = 2, .args = small({"--forever"})});
  ASSERT_TRUE(job.ready()) << job.output();
  for (const pid_t pid : job.pids("sumo_env")) strike(pid, SIGKILL);
  ASSERT_TRUE(job.says("killed by signal 9", 4)) << job.output();
  const int before = job.count("episode seed");
  EXPECT_TRUE(job.says("episode seed", before + 4)) << job.output();
  job.signal(SIGUSR1);
  EXPECT_EQ(job.wait(), 0) << job.output();
  EXPECT_THAT(job.output(), HasSubstr("lost 4 restarts 4"));
}

TEST(RolloutFaults, LostEpisodesRunAgainWithTheSameResult) {
  const auto args = small({"--episodes", "6"});
  Job undisturbed({.ranks = 2, .args = args});
  ASSERT_EQ(undisturbed.wait(), 0) << undisturbed.output();
  // The count of steps continues over all processes of a simulation, so each fault happens once.
  Job disturbed({.ranks = 2,
                 .fault = "sumo_env.step:0:100:kill,sumo_env.step:1:500:segv,"
                          "sumo_env.step:2:901:throw,sumo_env.step:3:30:nan",
                 .args = args});
  ASSERT_EQ(disturbed.wait(), 0) << disturbed.output();
  EXPECT_EQ(episodes(undisturbed).size(), 6U);
  EXPECT_EQ(episodes(disturbed), episodes(undisturbed));
  EXPECT_THAT(disturbed.output(), HasSubstr("killed by signal 9"));
  EXPECT_THAT(disturbed.output(), HasSubstr("killed by signal 11"));
  EXPECT_THAT(disturbed.output(), HasSubstr("simulation 2 failed: fault throw"));
  EXPECT_THAT(disturbed.output(),
              AllOf(HasSubstr("contains NaN, infinity or a number beyond 1e+10: nan at place"),
                    HasSubstr(" in growth; the simulation's process is damaged")));
  EXPECT_THAT(disturbed.output(), HasSubstr("rejected 1"));
}

TEST(RolloutFaults, TheSameSeedsGiveTheSameFramesOnAnyNumberOfRanksAndWorkers) {
  std::set<std::string> first;
  for (const auto& [ranks, workers, envs] : {std::tuple(1, "1", "1"), std::tuple(2, "2", "2"),
                                             std::tuple(3, "3", "1"), std::tuple(0, "1", "3")}) {
    Job job({.ranks = ranks,
             .args = {"--episodes", "3", "--set", std::string("rollout.workers=") + workers,
                      "--set", std::string("rollout.envs_per_worker=") + envs}});
    ASSERT_EQ(job.wait(), 0) << job.output();
    ASSERT_EQ(episodes(job).size(), 3U) << job.output();
    if (first.empty()) first = episodes(job);
    EXPECT_EQ(episodes(job), first);
  }
}

TEST(RolloutFaults, SimulationsMayUseAllCoresOfABoundRank) {
  Job job({.plain_mpirun = true, .ranks = 2, .args = small({"--forever"})});
  ASSERT_TRUE(job.ready()) << job.output();
  const auto cores = [](pid_t pid) {
    cpu_set_t set;
    CPU_ZERO(&set);
    sched_getaffinity(pid, sizeof(set), &set);
    return CPU_COUNT(&set);
  };
  for (const pid_t pid : job.pids("sumo_env")) EXPECT_EQ(cores(pid), cores(getpid()));
  job.signal(SIGUSR1);
  EXPECT_EQ(job.wait(), 0) << job.output();
}

TEST(RolloutFaults, AStoppedSimulationIsKilledAndReplaced) {
  for (const bool episode_only : {false, true}) {
    Job job({.ranks = 2, .args = small({"--forever"})});
    ASSERT_TRUE(job.ready()) << job.output();
    ASSERT_TRUE(job.eventually([&] { return !job.pids_of_episodes().empty(); }));
    strike(episode_only ? job.pids_of_episodes().at(0) : job.pids("sumo_env").at(0), SIGSTOP);
    EXPECT_TRUE(job.says("was stopped by a signal and was replaced")) << job.output();
    job.signal(SIGUSR1);
    EXPECT_EQ(job.wait(), 0) << job.output();
    EXPECT_THAT(job.output(), HasSubstr("lost 1 restarts 1 timeouts 1"));
  }
}

TEST(RolloutFaults, AKilledEpisodeProcessEndsItsSimulationAndNothingElse) {
  Job job({.ranks = 2, .args = small({"--forever"})});
  ASSERT_TRUE(job.ready()) << job.output();
  ASSERT_TRUE(job.eventually([&] { return job.pids_of_episodes().size() == 4; }));
  const auto before = job.pids("sumo_env");
  strike(job.pids_of_episodes().at(0), SIGKILL);
  ASSERT_TRUE(job.says("killed by signal 9")) << job.output();
  ASSERT_TRUE(job.eventually([&] { return job.pids("sumo_env").size() == 4; }));
  EXPECT_NE(job.pids("sumo_env"), before);
  job.signal(SIGUSR1);
  EXPECT_EQ(job.wait(), 0) << job.output();
  EXPECT_THAT(job.output(), HasSubstr("lost 1 restarts 1 timeouts 0"));
}

TEST(RolloutFaults, ASimulationThatHangsIsKilledAndReplaced) {
  Job job({.ranks = 2,
           .fault = "sumo_env.step:0:100:hang",
           .args = small({"--forever", "--set", "rollout.env_timeout_s=10"})});
  EXPECT_TRUE(job.says("gave no sign of life for 10 s")) << job.output();
  job.signal(SIGUSR1);
  EXPECT_EQ(job.wait(), 0) << job.output();
  EXPECT_THAT(job.output(), HasSubstr("lost 1 restarts 1 timeouts 1"));
}

TEST(RolloutFaults, TooFewOpenFilesAreReportedBeforeAnythingStarts) {
  Job job({.starter = {"prlimit", "--nofile=256:256"},
           .ranks = 2,
           .args = {"--set", "rollout.workers=40", "--set", "rollout.envs_per_worker=1"}});
  EXPECT_EQ(job.wait(), kResourcesCode) << job.output();
  EXPECT_THAT(job.output(), HasSubstr("40 rollout workers need 484 open files, the limit is 256"));
  EXPECT_THAT(job.output(), HasSubstr("ulimit -n"));
  expect_nothing_left(job);
}

TEST(RolloutFaults, AScenarioThatCannotBeLoadedEndsTheJobWithSumosOwnWords) {
  const auto broken = std::filesystem::temp_directory_path() / "rollout_broken.sumocfg";
  std::ofstream(broken) << "<configuration><input><net-file value=\"nowhere.net.xml\"/>"
                           "</input></configuration>";
  Job job({.ranks = 2, .args = small({"--set", "env.scenario=" + broken.string()})});
  EXPECT_EQ(job.wait(), kWorkersCode) << job.output();
  EXPECT_THAT(job.output(), HasSubstr("nowhere.net.xml"));
  EXPECT_THAT(job.output(), HasSubstr("6 failures in a row"));
  EXPECT_TRUE(gone(job));
  std::filesystem::remove(broken);
}

TEST(RolloutFaults, ASimulationThatCrashesAtEveryStartEndsTheJob) {
  Job job({.ranks = 2, .fault = "sumo_env.start:1:*:segv", .args = small({"--forever"})});
  EXPECT_EQ(job.wait(), kWorkersCode) << job.output();
  EXPECT_THAT(job.output(), HasSubstr("simulation 1 was killed by signal 11"));
  EXPECT_TRUE(gone(job));
}

TEST(RolloutFaults, AProgramThatIsMissingOrMayNotRunEndsTheJobAtOnce) {
  for (const char* option : {"--sumo-env", "--rollout-worker"}) {
    for (const char* path : {"/nowhere/program", "/etc/passwd", "/tmp"}) {
      Job job({.ranks = 2, .args = small({option, path})});
      EXPECT_EQ(job.wait(), kWorkersCode) << job.output();
      EXPECT_THAT(job.output(), HasSubstr(path));
      EXPECT_TRUE(gone(job));
    }
  }
}

TEST(RolloutFaults, NothingIsLeftAfterAGoodEnd) {
  for (const int ranks : {0, 2}) {
    Job job({.ranks = ranks, .args = small({"--episodes", "2"})});
    EXPECT_EQ(job.wait(), 0) << job.output();
    expect_nothing_left(job);
  }
}

TEST(RolloutFaults, NothingIsLeftWhenARankIsKilled) {
  for (const std::size_t rank : {0, 1}) {
    Job job({.ranks = 2, .args = small({"--forever"})});
    ASSERT_TRUE(job.ready()) << job.output();
    strike(job.pids("rollout_driver").at(rank), SIGKILL);
    EXPECT_GT(job.wait(kGone_s), 0) << job.output();
    expect_nothing_left(job);
  }
}

TEST(RolloutFaults, NothingIsLeftWhenTheOnlyRankIsKilledWithoutMpirun) {
  Job job({.ranks = 0, .args = small({"--forever"})});
  ASSERT_TRUE(job.ready()) << job.output();
  job.signal(SIGKILL);
  EXPECT_EQ(job.wait(kGone_s), 128 + SIGKILL);
  EXPECT_TRUE(gone(job)) << job.output();
}

TEST(RolloutFaults, NothingIsLeftWhenMpirunGetsSigterm) {
  Job job({.ranks = 2, .args = small({"--forever"})});
  ASSERT_TRUE(job.ready()) << job.output();
  job.signal(SIGTERM);
  EXPECT_NE(job.wait(kGone_s), -1) << job.output();
  expect_nothing_left(job);
}

TEST(RolloutFaults, AnErrorOfOneRankEndsTheJobWithItsMessageFirst) {
  for (const char* rank : {"0", "1"}) {
    Job job({.ranks = 2,
             .fault = std::string("driver.answer:") + rank + ":50:throw",
             .args = small({"--forever"})});
    EXPECT_EQ(job.wait(), 1) << job.output();
    EXPECT_THAT(job.output(), HasSubstr(std::string("rank ") + rank + " of 2"));
    EXPECT_EQ(job.count("(exit code"), 1) << job.output();
    EXPECT_TRUE(gone(job)) << job.output();
  }
}

TEST(RolloutFaults, NoProcessIsLeftWhenMpirunIsKilled) {
  Job job({.ranks = 2, .args = small({"--forever"})});
  ASSERT_TRUE(job.ready()) << job.output();
  job.signal(SIGKILL);
  EXPECT_EQ(job.wait(kGone_s), 128 + SIGKILL);
  EXPECT_TRUE(gone(job)) << job.output();
}

TEST(RolloutFaults, AKilledWorkerEndsTheJobAndItsSimulations) {
  for (const int ranks : {0, 2}) {
    Job job({.ranks = ranks, .args = small({"--forever"})});
    ASSERT_TRUE(job.ready()) << job.output();
    strike(job.pids("rollout_worker").at(0), SIGKILL);
    EXPECT_GT(job.wait(kGone_s), 0) << job.output();
    EXPECT_TRUE(gone(job)) << job.output();
  }
}

TEST(RolloutFaults, TwentyStartsAndKillsLeaveNothing) {
  for (int cycle = 0; cycle < 20; ++cycle) {
    Job job({.ranks = 2, .args = small({"--forever"})});
    // The kill comes a little later each time: before, while and after the processes start.
    const bool ready = job.eventually([&] { return job.ready(); }, 0.1 * cycle);
    const auto ranks = job.pids("rollout_driver");
    if (ranks.empty()) {
      job.signal(SIGTERM);
    } else {
      strike(ranks[static_cast<std::size_t>(cycle) % ranks.size()], SIGKILL);
    }
    EXPECT_NE(job.wait(), 0) << "ready " << ready << job.output();
    expect_nothing_left(job);
  }
}

}  // namespace
}  // namespace traffic::rollout
