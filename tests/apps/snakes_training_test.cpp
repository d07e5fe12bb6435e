/// Runs the training snakes as users do.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <set>

#include "support/run_folder_test.h"
#include "traffic/core/clock.h"
#include "traffic/core/random.h"

namespace traffic::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class SnakesTraining : public RunFolderTest {
 protected:
  /// The command of a training. A round has 16 games on each rank. Later arguments override earlier
  /// ones. @param starter words before the program's name in each rank's command
  [[nodiscard]] std::string command(int ranks, const std::string& run,
                                    const std::string& arguments = "",
                                    const std::string& environment = "X=1",
                                    const std::string& starter = "") const {
    return command_of({.ranks = ranks,
                       .config = "snakes.toml",
                       .run = run,
                       .arguments = arguments,
                       .environment = environment,
                       .starter = starter});
  }
  /// Compares the results of two runs that must be identical.
  void expect_same_bits(const std::string& one, const std::string& other) const {
    EXPECT_EQ(summary(one)["parameters_xxh3"], summary(other)["parameters_xxh3"]);
    EXPECT_EQ(summary(one)["result"], summary(other)["result"]);
    EXPECT_EQ(figures_of_learning(one), figures_of_learning(other));
    EXPECT_EQ(checkpoint_parts(one), checkpoint_parts(other));
  }
};

constexpr const char* kLearners[] = {
    "dqn", "ddpg", "sac --set game.self_play_share=0.5 --set game.pool_interval=32"};

TEST_F(SnakesTraining, KilledAndResumedItEndsWithTheSameBits) {
  for (const std::string learner : kLearners) {
    const std::string size = "--set offpolicy.max_episodes=192 --set offpolicy.learner=" + learner +
                             (learner == "ddpg" ? " --set offpolicy.ddpg_action=softmax" : "");
    fs::remove_all(dir_ / "whole");
    fs::remove_all(dir_ / "cut");
    ASSERT_EQ(run_program(command(2, "whole", size)).exit_code, 0);
    // Kills either rank at the beginning of a round, after one and after four saved rounds.
    for (const char* fault : {"train.step:1:1:kill", "train.step:0:4:kill"}) {
      const Outcome killed =
          run_program(command(2, "cut", size, std::string("TRAFFIC_FAULT=") + fault));
      ASSERT_NE(killed.exit_code, 0) << killed.output;
    }
    const Outcome resumed = run_program(command(2, "cut", size));
    ASSERT_EQ(resumed.exit_code, 0) << resumed.output;
    EXPECT_THAT(resumed.output, HasSubstr("going on from checkpoint"));
    expect_same_bits("whole", "cut");
  }
}

/// Kills a run at random moments: while it starts, saves or learns. The environment variable
/// TRAFFIC_KILLS is the number of kills.
TEST_F(SnakesTraining, KilledAtAnyMomentItEndsWithTheSameBits) {
  const char* wanted = std::getenv("TRAFFIC_KILLS");
  const int kills = wanted == nullptr ? 3 : std::atoi(wanted);
  const std::string size =
      "--set offpolicy.max_episodes=1280 --set game.self_play_share=0.3 "
      "--set game.pool_interval=128 --set offpolicy.eval_interval=320";
  const Stopwatch clock;
  ASSERT_EQ(run_program(command(2, "whole", size)).exit_code, 0);
  const double whole_s = clock.seconds();
  Rng rng(20);
  int killed = 0;
  for (int tries = 0; killed < kills && tries < 10 * kills; ++tries) {
    const std::string of_rank = std::to_string(rng.uniform_int(2));
    // Every other kill comes after 20 % to 60 % of the time of a whole run, so that the run makes
    // progress from one kill to the next.
    const double after_s = whole_s * (tries % 2 == 0 ? 0.2 + 0.4 * rng.uniform() : rng.uniform());
    const std::string starter = "bash -c 'if [ $OMPI_COMM_WORLD_RANK = " + of_rank +
                                " ]; then exec timeout -s KILL " + std::to_string(after_s) +
                                " \"$@\"; fi; exec \"$@\"' starter";
    if (run_program(command(2, "cut", size, "X=1", starter)).exit_code != 0) {
      ++killed;
      continue;
    }
    expect_same_bits("whole", "cut");  // the run ended before the kill, so start a new one
    fs::remove_all(dir_ / "cut");
  }
  std::printf("killed %d times\n", killed);
  EXPECT_EQ(killed, kills);
  const Outcome resumed = run_program(command(2, "cut", size));
  ASSERT_EQ(resumed.exit_code, 0) << resumed.output;
  expect_same_bits("whole", "cut");
}

TEST_F(SnakesTraining, OnAnotherNumberOfRanksTheReplayIsDistributedAnew) {
  ASSERT_EQ(run_program(command(2, "run", "--set offpolicy.max_episodes=64")).exit_code, 0);
  for (const int ranks : {1, 3}) {
    const Outcome outcome = run_program(command(
        ranks, "run", "--set offpolicy.max_episodes=" + std::to_string(ranks == 1 ? 96 : 192)));
    ASSERT_EQ(outcome.exit_code, 0) << outcome.output;
    EXPECT_THAT(outcome.output, HasSubstr("the replay was divided anew"));
    EXPECT_EQ(summary("run")["world_size"], ranks);
  }
}

TEST_F(SnakesTraining, AMissingPartOfTheReplayIsNamedAndAnOlderCheckpointTaken) {
  ASSERT_EQ(run_program(command(1, "run", "--set offpolicy.max_episodes=48")).exit_code, 0);
  for (const std::string& name : checkpoint_parts("run")) {
    fs::remove(dir_ / "run/checkpoints/parts" / name);
  }
  const Outcome outcome = run_program(command(1, "run", "--set offpolicy.max_episodes=96"));
  EXPECT_EQ(outcome.exit_code, 4) << outcome.output;
  EXPECT_THAT(outcome.output, AllOf(HasSubstr(".part is missing"), HasSubstr("parts")));
}

TEST_F(SnakesTraining, ARunCanStartFromASavedEpisodeOfAnotherRun) {
  ASSERT_EQ(run_program(command(2, "first", "--set offpolicy.max_episodes=64")).exit_code, 0);
  const std::string from = "--set run.init_from=" + (dir_ / "first").string() +
                           " --set offpolicy.max_episodes=32 --set offpolicy.init_episode=";
  const Outcome outcome = run_program(command(2, "second", from + "32"));
  ASSERT_EQ(outcome.exit_code, 0) << outcome.output;
  EXPECT_THAT(outcome.output, HasSubstr("(episode 32): loaded networks, targets and optimisers"));
  const Outcome unsaved = run_program(command(2, "third", from + "40"));
  EXPECT_EQ(unsaved.exit_code, 4) << unsaved.output;
  EXPECT_THAT(unsaved.output, HasSubstr("no checkpoint of episode 40; saved are 32, 64"));
}

TEST_F(SnakesTraining, ItsPlayerPlaysInTheOtherPrograms) {
  ASSERT_EQ(run_program(command(1, "run", "--set offpolicy.max_episodes=32")).exit_code, 0);
  const std::string player = "checkpoint:" + best("run");
  const Outcome compared =
      run_program(TRAFFIC_BIN_DIR "/traffic_eval --controller " + player +
                  " --controller bfs --against random --against " + player + " --games 20");
  EXPECT_EQ(compared.exit_code, 0) << compared.output;
  EXPECT_THAT(compared.output,
              AllOf(HasSubstr(player + " against random: wins "),
                    HasSubstr("bfs against random: wins 100.0 % +- 0.0 of 20 games"),
                    HasSubstr("bfs against " + player)));
  const Outcome json =
      run_program(TRAFFIC_BIN_DIR "/traffic_eval --controller bfs --against 0 --games 8 --json");
  EXPECT_EQ(nlohmann::json::parse(json.output, nullptr, false)[0]["win_percent"], 100.0);
  const Outcome game = run_program(TRAFFIC_BIN_DIR "/snakes --team " + player + " --page " +
                                   (dir_ / "game.html").string());
  EXPECT_EQ(game.exit_code, 0) << game.output;
  EXPECT_TRUE(fs::exists(dir_ / "game.html"));
}

/// Each of the two ranks has a replay, in which a transition takes 352 bytes.
TEST_F(SnakesTraining, StatesTheMemoryOfItsReplayBeforeItBegins) {
  const Outcome outcome = run_program(command(
      2, "run", "--dry-run --set offpolicy.hidden_dim=128 --set offpolicy.buffer_size=3000000"));
  ASSERT_EQ(outcome.exit_code, 0) << outcome.output;
  EXPECT_THAT(outcome.output,
              ::testing::ContainsRegex("an estimated 2\\.[0-9] GiB during training"));
}

TEST_F(SnakesTraining, BadInputIsRefusedWithItsExitCode) {
  const auto refused = [&](const std::string& arguments, int code, const char* text) {
    const Outcome outcome = run_program(command(1, "refused", arguments));
    EXPECT_EQ(outcome.exit_code, code) << outcome.output;
    EXPECT_THAT(outcome.output, HasSubstr(text));
  };
  refused("--set 'game.opponents=[\"strong\"]'", 2, "expected one of random, chase");
  refused("--set offpolicy.buffer_size=1000000000", 8, "lower offpolicy.buffer_size");
  refused("--set offpolicy.learner=a3c", 2, "expected one of dqn, ddpg, sac");
  refused("--set run.init_from=/none/at/all.h5", 4, "/none/at/all.h5");
  ASSERT_EQ(run_program(command(1, "run", "--set offpolicy.max_episodes=16")).exit_code, 0);
  refused("--set offpolicy.learner=sac --set run.init_from=" + best("run"), 4,
          "was written by the learner dqn, but this run's offpolicy.learner is sac");
  const Outcome kind = run_program(
      TRAFFIC_BIN_DIR "/traffic_eval --controller checkpoint:" + best("run") + " --against strong");
  EXPECT_EQ(kind.exit_code, 2);
  EXPECT_THAT(kind.output, HasSubstr("no team is named 'strong'"));
}

}  // namespace
}  // namespace traffic::test
