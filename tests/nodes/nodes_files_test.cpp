/// Trainings on two nodes that see different files (data, replays), and counters of faults that are
/// summed over the nodes.
#include "nodes_fixture.h"

namespace traffic::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class NodesFilesTest : public NodesTest {
 protected:
  /// The command of a training of phase 1. Each node has its own folder for the data files and for
  /// the copies that the training makes of them.
  [[nodiscard]] std::string staged(const std::string& run) const {
    return command(2, run, kOneThread + data_of_own());
  }
  [[nodiscard]] std::string data_of_own() const {
    return " --set 'data.files=[\"" + (dir_ / "own/row.h5").string() +
           "\"]' --set data.stage_dir=" + (dir_ / "own/copies").string();
  }
};

TEST_F(NodesFilesTest, DataThatOneNodeHasIsStagedOnAll) {
  ASSERT_EQ(run_program(command(2, "one", kOneThread)).exit_code, 0);
  fs::create_directories(dir_ / "own");
  fs::copy_file(dir_ / "row.h5", dir_ / "own/row.h5");
  const std::string size = std::to_string(fs::file_size(dir_ / "row.h5"));
  const Outcome outcome = run_program(on_nodes_with_own("own", 2, staged("two")));
  ASSERT_EQ(outcome.exit_code, 0) << outcome.output;
  EXPECT_THAT(outcome.output, HasSubstr("2 ranks on 2 nodes"));
  expect_same_parameters("one", "two");
  const Outcome again = run_program(on_nodes_with_own("own", 2, staged("again")));
  ASSERT_EQ(again.exit_code, 0) << again.output;
  EXPECT_THAT(again.output, HasSubstr("on node0; 0 B were copied now"));
  const std::string doctor = TRAFFIC_SOURCE_DIR "/launch/mpirun.sh -np 2 " TRAFFIC_BIN_DIR
                                                "/traffic_doctor " TRAFFIC_SOURCE_DIR
                                                "/configs/phase1.toml --set run.dir=" +
                             (dir_ / "run").string() + data_of_own();
  const Outcome examined = run_program(on_nodes_with_own("own", 2, doctor));
  EXPECT_EQ(examined.exit_code, 0) << examined.output;
  EXPECT_THAT(examined.output, HasSubstr("1 file, samples: "));
  fs::remove_all(dir_ / "own/copies");
  const std::string full = "unshare --mount sh -c 'mount -t tmpfs -o size=16k tmpfs " +
                           (dir_ / "full").string() + " && exec \"$@\"' sh ";
  fs::create_directories(dir_ / "full");
  const Outcome no_room = run_program(
      on_nodes(1, 2, full + staged("full") + " --set data.stage_dir=" + (dir_ / "full").string()));
  EXPECT_NE(no_room.exit_code, 0) << no_room.output;
  EXPECT_THAT(no_room.output, AllOf(HasSubstr("data.stage_dir"),
                                    HasSubstr("the missing copies of the data sets need")));
}

/// The replay of each rank must be stored in the run folder of rank 0, even if the rank's own node
/// does not see that folder.
TEST_F(NodesFilesTest, ReplaysOfNodesThatDoNotSeeTheRunFolderAreRestored) {
  const auto snakes = [&](const std::string& run, const std::string& environment) {
    return "env " + environment +
           " " TRAFFIC_SOURCE_DIR "/launch/mpirun.sh -np 2 " TRAFFIC_BIN_DIR
           "/traffic_train " TRAFFIC_SOURCE_DIR
           "/configs/snakes.toml --preset test --set run.device=cpu --set comm.timeout_s=60 "
           "--set checkpoint.save_interval_steps=1 --set offpolicy.max_episodes=192 --run-dir " +
           (dir_ / run).string();
  };
  ASSERT_EQ(run_program(snakes("one", "X=1")).exit_code, 0);
  const Outcome killed =
      run_program(on_nodes_with_own("two", 2, snakes("two", "TRAFFIC_FAULT=train.step:1:4:kill")));
  EXPECT_NE(killed.exit_code, 0) << killed.output;
  const Outcome resumed = run_program(on_nodes_with_own("two", 2, snakes("two", "X=1")));
  ASSERT_EQ(resumed.exit_code, 0) << resumed.output;
  EXPECT_THAT(resumed.output, HasSubstr("going on from checkpoint"));
  expect_same_parameters("one", "two");
  EXPECT_EQ(checkpoint_parts("one"), checkpoint_parts("two"));
}

/// A simulation of the second node dies.
TEST_F(NodesFilesTest, EpisodesThatAnyNodeLosesAreCounted) {
  const std::string signals =
      "env TRAFFIC_FAULT=sumo_env.step:1:30:kill " TRAFFIC_SOURCE_DIR
      "/launch/mpirun.sh -np 2 " TRAFFIC_BIN_DIR "/traffic_train " TRAFFIC_SOURCE_DIR
      "/configs/signals.toml --preset test --set run.device=cpu --set comm.timeout_s=60 "
      "--set env.scenario=lights_arterial --set env.max_time_s=60 "
      "--set evaluation.seeds= --set training.iterations=1 --run-dir " +
      (dir_ / "run").string();
  const Outcome outcome = run_program(on_nodes(2, 1, signals));
  ASSERT_EQ(outcome.exit_code, 0) << outcome.output;
  EXPECT_GE(summary("run")["faults"]["lost_episodes"], 1) << outcome.output;
}

}  // namespace
}  // namespace traffic::test
