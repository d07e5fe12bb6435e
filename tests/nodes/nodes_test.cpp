/// Checks that trainings on several nodes end with the same results as with the same number of
/// ranks on one node.
#include "nodes_fixture.h"

namespace traffic::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

TEST_F(NodesTest, Phase1EndsWithTheBitsOfOneNodeOnTwoAndOnFour) {
  need_run("one", command(4, "one", kOneThread));
  for (const auto& [nodes, slots] : {std::pair{2, 2}, std::pair{4, 1}}) {
    const std::string run = "on" + std::to_string(nodes);
    const Outcome outcome = run_program(on_nodes(nodes, slots, command(4, run, kOneThread)));
    ASSERT_EQ(outcome.exit_code, 0) << outcome.output;
    EXPECT_THAT(outcome.output, AllOf(HasSubstr("4 ranks on " + std::to_string(nodes) + " nodes"),
                                      Not(HasSubstr("not see"))));
    expect_same_parameters("one", run);
  }
}

TEST_F(NodesTest, RanksThatAreDealtOutInTurnEndWithTheSameBits) {
  ASSERT_EQ(run_program(command(3, "one", kOneThread)).exit_code, 0);
  const std::string in_turn = "OMPI_MCA_rmaps_base_mapping_policy=node";
  const Outcome outcome = run_program(on_nodes(2, 2, command(3, "two", kOneThread, in_turn)));
  ASSERT_EQ(outcome.exit_code, 0) << outcome.output;
  EXPECT_THAT(outcome.output, HasSubstr("3 ranks on 2 nodes"));
  expect_same_parameters("one", "two");
}

/// Simulations run on both nodes. Phase 2 fails once and is repeated. Only the first node sees the
/// run folder.
TEST_F(NodesTest, AllPhasesEndWithTheBitsOfOneNode) {
  need_run("whole", all_phases("whole", kOneThread));
  const std::string fault = "TRAFFIC_FAULT=phase2.collect:1:1:throw";
  const Outcome outcome =
      run_program(on_nodes_with_own("two", 2, all_phases("two", kOneThread, fault)));
  ASSERT_EQ(outcome.exit_code, 0) << outcome.output;
  EXPECT_THAT(outcome.output, AllOf(HasSubstr("2 ranks on 2 nodes"),
                                    HasSubstr("node1 does not see the run folder of node0"),
                                    HasSubstr("phase 2 failed: rank 1: fault throw")));
  expect_same_phases("whole", "two");
}

/// A run is killed twice. Its first and third part run on two nodes whose clocks differ, and its
/// second part on one node whose time of day jumps. Clocks must have no effect: each node measures
/// deadlines by its own clock, and checkpoints are ordered by step.
TEST_F(NodesTest, ARunMovesBetweenOneNodeAndTwoWithOtherClocks) {
  need_run("whole", all_phases("whole", kOneThread));
  const auto part = [&](const std::string& fault) {
    return all_phases("cut", kOneThread, "TRAFFIC_FAULT=" + fault);
  };
  const Outcome first =
      run_program(with_other_clocks(on_nodes(2, 1, part("phase2.collect:1:1:kill"))));
  EXPECT_NE(first.exit_code, 0) << first.output;
  const Outcome second = run_program(
      all_phases("cut", kOneThread, jumping_clock() + " TRAFFIC_FAULT=phase3.collect:1:1:kill"));
  EXPECT_NE(second.exit_code, 0) << second.output;
  EXPECT_THAT(second.output, HasSubstr("going on from checkpoint"));
  const Outcome third =
      run_program(with_other_clocks(on_nodes(2, 1, all_phases("cut", kOneThread))));
  ASSERT_EQ(third.exit_code, 0) << third.output;
  EXPECT_THAT(third.output, HasSubstr("going on from checkpoint"));
  for (const std::string phase : {"/phase1", "/phase2", "/phase3"}) {
    expect_same_parameters("whole" + phase, "cut" + phase);
  }
}

TEST_F(NodesTest, TheDoctorExaminesEveryNode) {
  const std::string doctor =
      TRAFFIC_SOURCE_DIR "/launch/mpirun.sh -np 2 " TRAFFIC_BIN_DIR
                         "/traffic_doctor --set rollout.workers=1 --set rollout.envs_per_worker=2 "
                         "--set run.dir=" +
      (dir_ / "run").string();
  const Outcome outcome = run_program(on_nodes(2, 1, doctor));
  EXPECT_EQ(outcome.exit_code, 0) << outcome.output;
  EXPECT_THAT(
      outcome.output,
      AllOf(HasSubstr("node0"), HasSubstr("node1"), HasSubstr("MPI between 2 ranks on 2 nodes"),
            HasSubstr("2 simulations of merge were ready"), HasSubstr("0 failed")));
}

}  // namespace
}  // namespace traffic::test
