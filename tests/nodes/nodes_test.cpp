/// The programs on several nodes, which are network namespaces of this machine with host names of
/// their own (nodes.sh): what comes out is what comes out of as many ranks on one node.
#include <gmock/gmock.h>

#include <string>

#include "hybrid_fixture.h"

namespace traffic::test {
namespace {

using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::Not;

const std::string kNodes = TRAFFIC_SOURCE_DIR "/tests/nodes/nodes.sh";
constexpr int kNotHere = 77;

/// Threads that share a node's cores would be more on nodes with fewer ranks, and with them the
/// order of sums within a rank another one.
const std::string kOneThread = " --set run.threads_per_rank=1 ";

class NodesTest : public HybridTest {
 protected:
  void SetUp() override {
    HybridTest::SetUp();
    const Outcome outcome = run_program(kNodes + " run 1 1 true");
    if (outcome.exit_code == kNotHere) GTEST_SKIP() << outcome.output;
    ASSERT_EQ(outcome.exit_code, 0) << outcome.output;
  }

  /// On so many nodes, each with room for so many ranks.
  [[nodiscard]] static std::string on_nodes(int nodes, int slots, const std::string& command) {
    return kNodes + " run " + std::to_string(nodes) + " " + std::to_string(slots) + " " + command;
  }
  [[nodiscard]] std::string text(const std::string& file) const {
    std::ifstream in(dir_ / file);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  void expect_same_parameters(const std::string& run, const std::string& other) const {
    for (const std::string part : {"/phase1", "/phase2", "/phase3"}) {
      EXPECT_EQ(summary(run + part)["parameters_xxh3"], summary(other + part)["parameters_xxh3"])
          << run << part;
    }
  }
};

TEST_F(NodesTest, Phase1EndsWithTheBitsOfOneNode) {
  ASSERT_EQ(run_program(command(4, "one", kOneThread)).exit_code, 0);
  const Outcome outcome = run_program(on_nodes(2, 2, command(4, "two", kOneThread)));
  ASSERT_EQ(outcome.exit_code, 0) << outcome.output;
  EXPECT_THAT(outcome.output, AllOf(HasSubstr("4 ranks on 2 nodes"), Not(HasSubstr("not see"))));
  EXPECT_EQ(summary("one")["parameters_xxh3"], summary("two")["parameters_xxh3"]);
}

TEST_F(NodesTest, RanksThatAreDealtOutInTurnEndWithTheSameBits) {
  ASSERT_EQ(run_program(command(3, "one", kOneThread)).exit_code, 0);
  const std::string in_turn = "OMPI_MCA_rmaps_base_mapping_policy=node";
  const Outcome outcome = run_program(on_nodes(2, 2, command(3, "two", kOneThread, in_turn)));
  ASSERT_EQ(outcome.exit_code, 0) << outcome.output;
  EXPECT_THAT(outcome.output, HasSubstr("3 ranks on 2 nodes"));
  EXPECT_EQ(summary("one")["parameters_xxh3"], summary("two")["parameters_xxh3"]);
}

/// Simulations beside the ranks of both nodes, once started anew after an error, in a run folder
/// that only the first one has.
TEST_F(NodesTest, AllPhasesEndWithTheBitsOfOneNode) {
  ASSERT_EQ(run_program(all_phases("one", kOneThread)).exit_code, 0);
  const std::string elsewhere = dir_ / "two";
  fs::create_directories(elsewhere);
  const std::string fault = "TRAFFIC_FAULT=phase2.collect:1:1:throw";
  const Outcome outcome = run_program("env NODES_PRIVATE=" + elsewhere + " " +
                                      on_nodes(2, 1, all_phases("two", kOneThread, fault)));
  ASSERT_EQ(outcome.exit_code, 0) << outcome.output;
  EXPECT_THAT(outcome.output, AllOf(HasSubstr("2 ranks on 2 nodes"),
                                    HasSubstr("node1 does not see the run folder of node0"),
                                    HasSubstr("phase 2 failed: rank 1: fault throw")));
  expect_same_parameters("one", "two");
  for (const std::string episodes : {"/phase2/episodes.csv", "/phase3/episodes.csv"}) {
    EXPECT_EQ(text("one" + episodes), text("two" + episodes)) << "traffic, outcomes, evaluations";
  }
}

TEST_F(NodesTest, ARunGoesOnBetweenOneNodeAndTwo) {
  ASSERT_EQ(run_program(all_phases("whole", kOneThread)).exit_code, 0);
  const auto killed_in = [&](const std::string& fault) {
    return all_phases("cut", kOneThread, "TRAFFIC_FAULT=" + fault);
  };
  const Outcome first = run_program(on_nodes(2, 1, killed_in("phase2.collect:1:1:kill")));
  EXPECT_NE(first.exit_code, 0) << first.output;
  const Outcome second = run_program(killed_in("phase3.collect:1:1:kill"));
  EXPECT_NE(second.exit_code, 0) << second.output;
  EXPECT_THAT(second.output, HasSubstr("going on from checkpoint"));
  const Outcome third = run_program(on_nodes(2, 1, all_phases("cut", kOneThread)));
  ASSERT_EQ(third.exit_code, 0) << third.output;
  EXPECT_THAT(third.output, HasSubstr("going on from checkpoint"));
  expect_same_parameters("whole", "cut");
}

/// Phase 1 on two nodes of a rank each, slow enough for a fault to come in its midst.
class NodesFaultTest : public NodesTest {
 protected:
  static constexpr int kSteps = 40;

  [[nodiscard]] std::string training(const std::string& run, const std::string& more = "") const {
    return command(2, run,
                   kOneThread + "--set train.max_steps=" + std::to_string(kSteps) +
                       " --set checkpoint.save_interval_steps=5 " + more,
                   "TRAFFIC_FAULT=train.step:0:*:slow:100");
  }
  /// @param fault shell commands, nodes.sh among them, after ten steps
  [[nodiscard]] Outcome run_with(const std::string& fault, const std::string& run,
                                 const std::string& more = "") const {
    const std::string script = TRAFFIC_SOURCE_DIR "/tests/nodes/with_fault.sh ";
    return run_program(
        on_nodes(2, 1,
                 script + (dir_ / run).string() + " 10 '" + fault + "' " + training(run, more)),
        150);
  }
};

TEST_F(NodesFaultTest, ANodeThatDisappearsEndsTheJobWhichGoesOnWithOneFewer) {
  ASSERT_EQ(run_program(training("whole")).exit_code, 0);
  const Outcome lost = run_with("nodes.sh kill node1", "cut");
  EXPECT_NE(lost.exit_code, 0) << lost.output;
  // mpirun hears first either of the lost connection, and names the node, or of its launch agent's
  // death.
  EXPECT_THAT(lost.output, AnyOf(AllOf(HasSubstr("lost communication"), HasSubstr("node1")),
                                 HasSubstr("unable to reliably start one or more daemons")));
  EXPECT_FALSE(fs::exists(dir_ / "cut/summary.json"));
  const Outcome resumed = run_program(training("cut"));
  ASSERT_EQ(resumed.exit_code, 0) << resumed.output;
  EXPECT_THAT(resumed.output, HasSubstr("going on from checkpoint"));
  EXPECT_EQ(summary("whole")["parameters_xxh3"], summary("cut")["parameters_xxh3"]);
}

TEST_F(NodesFaultTest, ALinkThatIsSlowOrCutForSecondsCostsTimeOnly) {
  ASSERT_EQ(run_program(training("whole")).exit_code, 0);
  const Outcome outcome =
      run_with("nodes.sh rate 20mbit; nodes.sh cut node1; sleep 4; nodes.sh join node1", "cut");
  ASSERT_EQ(outcome.exit_code, 0) << outcome.output;
  EXPECT_EQ(summary("whole")["parameters_xxh3"], summary("cut")["parameters_xxh3"]);
}

TEST_F(NodesFaultTest, ALinkThatStaysCutEndsTheJobAtTheDeadlineNamingTheNode) {
  const Outcome outcome =
      run_with("nodes.sh cut node1", "cut", "--set comm.timeout_s=10 --set comm.init_timeout_s=10");
  EXPECT_NE(outcome.exit_code, 0) << outcome.output;
  EXPECT_THAT(outcome.output,
              AllOf(HasSubstr("rank 1 on node1 did not come within"), HasSubstr("(exit code 7)")));
}

TEST_F(NodesTest, TheDoctorExaminesEveryNode) {
  const std::string doctor =
      TRAFFIC_SOURCE_DIR "/launch/mpirun.sh -np 2 " TRAFFIC_BIN_DIR
                         "/traffic_doctor --set rollout.workers=1 --set rollout.envs_per_worker=2 "
                         "--set run.dir=" +
      (dir_ / "run").string();
  const Outcome outcome = run_program(on_nodes(2, 1, doctor));
  EXPECT_EQ(outcome.exit_code, 0) << outcome.output;
  EXPECT_THAT(outcome.output, AllOf(HasSubstr("node0"), HasSubstr("node1"),
                                    HasSubstr("MPI between 2 ranks on 2 nodes"),
                                    HasSubstr("2 of merge were ready"), HasSubstr("0 failed")));
}

}  // namespace
}  // namespace traffic::test
