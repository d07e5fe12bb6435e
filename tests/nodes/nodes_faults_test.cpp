/// Lets nodes and links between them fail while a training runs on two nodes.
#include <cstdlib>

#include "nodes_fixture.h"

namespace traffic::test {
namespace {

using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::HasSubstr;

/// Base of tests that train phase 1 on two nodes with one rank each. The steps are slowed down, so
/// that the fault occurs in the middle of the training.
class NodesFaultTest : public NodesTest {
 protected:
  static constexpr int kSteps = 40;

  [[nodiscard]] std::string training(const std::string& run, const std::string& more = "") const {
    return command(2, run,
                   kOneThread + "--set train.max_steps=" + std::to_string(kSteps) +
                       " --set checkpoint.save_interval_steps=5 " + more,
                   "TRAFFIC_FAULT=train.step:0:*:slow:100");
  }
  /// @param fault shell commands, which may call nodes.sh; run after ten steps
  [[nodiscard]] Outcome run_with(const std::string& fault, const std::string& run,
                                 const std::string& more = "", int timeout_s = 150) const {
    const std::string script = TRAFFIC_SOURCE_DIR "/tests/nodes/with_fault.sh ";
    return run_program(
        on_nodes(2, 1,
                 script + (dir_ / run).string() + " 10 '" + fault + "' " + training(run, more)),
        timeout_s);
  }
  void expect_to_go_on_on_one_node(const std::string& run) {
    need_run("unbroken", training("unbroken"));
    const Outcome resumed = run_program(training(run));
    ASSERT_EQ(resumed.exit_code, 0) << resumed.output;
    EXPECT_THAT(resumed.output, HasSubstr("going on from checkpoint"));
    expect_same_parameters("unbroken", run);
  }
};

TEST_F(NodesFaultTest, ALostNodeEndsTheJobWhichContinuesOnOneNodeFewer) {
  const Outcome lost = run_with("nodes.sh kill node1", "cut");
  EXPECT_NE(lost.exit_code, 0) << lost.output;
  // mpirun may detect the lost connection first, and names the node, or the death of its launch
  // agent.
  EXPECT_THAT(lost.output, AnyOf(AllOf(HasSubstr("lost communication"), HasSubstr("node1")),
                                 HasSubstr("unable to reliably start one or more daemons")));
  EXPECT_FALSE(fs::exists(dir_ / "cut/summary.json"));
  expect_to_go_on_on_one_node("cut");
}

/// The link is cut for TRAFFIC_CUT_S seconds (an environment variable). TCP doubles the interval
/// between its retries. After a cut of 60 s, it may therefore need another 60 s.
TEST_F(NodesFaultTest, ALinkThatIsSlowOrCutForAWhileCostsTimeOnly) {
  need_run("unbroken", training("unbroken"));
  const char* wanted = std::getenv("TRAFFIC_CUT_S");
  const int cut_s = wanted == nullptr ? 4 : std::atoi(wanted);
  const Outcome outcome =
      run_with("nodes.sh rate 20mbit; nodes.sh cut node1; sleep " + std::to_string(cut_s) +
                   "; nodes.sh join node1",
               "cut", "--set comm.timeout_s=" + std::to_string(60 + 3 * cut_s), 150 + 3 * cut_s);
  ASSERT_EQ(outcome.exit_code, 0) << outcome.output;
  expect_same_parameters("unbroken", "cut");
}

TEST_F(NodesFaultTest, ALinkThatIsCutForTooLongEndsTheJobWithoutLeftovers) {
  const Outcome outcome = run_with(
      "nodes.sh cut node1; sleep 11; nodes.sh join node1; "
      "for i in $(seq 80); do [ -n \"$(nodes.sh processes node1)\" ] || break; sleep 0.5; done; "
      "echo \"left on node1: $(nodes.sh processes node1).\"",
      "cut", "--set comm.timeout_s=6 --set comm.init_timeout_s=6");
  EXPECT_NE(outcome.exit_code, 0) << outcome.output;
  EXPECT_THAT(outcome.output, AllOf(HasSubstr("did not come within"), HasSubstr("(exit code 7)"),
                                    HasSubstr("left on node1: .")));
  expect_to_go_on_on_one_node("cut");
}

TEST_F(NodesFaultTest, ALinkThatStaysCutEndsTheJobAtTheDeadlineNamingTheNode) {
  const Outcome outcome =
      run_with("nodes.sh cut node1", "cut", "--set comm.timeout_s=10 --set comm.init_timeout_s=10");
  EXPECT_NE(outcome.exit_code, 0) << outcome.output;
  EXPECT_THAT(outcome.output,
              AllOf(HasSubstr("rank 1 on node1 did not come within"), HasSubstr("(exit code 7)")));
}

/// Base of tests on one machine, such as a laptop, that has no network or loses it. They train
/// lights, because that training starts further processes.
class OneMachineTest : public NodesTest {
 protected:
  [[nodiscard]] std::string training() const {
    return TRAFFIC_SOURCE_DIR "/launch/mpirun.sh -np 2 " TRAFFIC_BIN_DIR
                              "/traffic_train " TRAFFIC_SOURCE_DIR
                              "/configs/signals.toml --preset test --set run.device=cpu "
                              "--set env.scenario=lights_arterial "
                              "--set env.max_time_s=60 --set evaluation.seeds= "
                              "--set training.iterations=3 --run-dir " +
           (dir_ / "run").string();
  }
};

TEST_F(OneMachineTest, TrainsWithoutANetwork) {
  const Outcome outcome =
      run_program(on_nodes(1, 2, "sh -c 'ip link del eth0 && exec " + training() + "'"));
  ASSERT_EQ(outcome.exit_code, 0) << outcome.output;
  EXPECT_EQ(summary("run")["status"], "done");
}

TEST_F(OneMachineTest, DoesNotNoticeThatTheNetworkGoesAway) {
  const Outcome outcome =
      run_program(on_nodes(1, 2,
                           TRAFFIC_SOURCE_DIR "/tests/nodes/with_fault.sh " +
                               (dir_ / "run").string() + " 1 'ip link del eth0' " + training()),
                  60);
  ASSERT_EQ(outcome.exit_code, 0) << outcome.output;
  EXPECT_EQ(summary("run")["status"], "done");
}

}  // namespace
}  // namespace traffic::test
