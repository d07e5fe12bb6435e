/// Tests the example speed_limits, an agent that traffic_train itself does not have: its part in a
/// simulation, and its training as a reader of docs/design/extending.md would run it.
#include "speed_limits.h"

#include "signs_in_simulation.h"
#include "support/run_folder_test.h"
#include "traffic/core/error.h"
#include "traffic/rollout/traffic/sections.h"

namespace traffic::test {
namespace {

using example::ShowLimit;
using example::SignView;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

/// Runs a simulation in this process, with a sign at the scenario's main road.
class SignsInSimulationTest : public ::testing::Test {
 protected:
  SignsInSimulationTest() {
    agent_->begin({.sumo = sumo_, .spec = spec_});
    agent_->begin_period();
  }

  /// Runs ten seconds. @return the signs' observations if a decision is due; otherwise empty
  std::vector<SignView> run_period() {
    for (int step = 1; step <= 10; ++step) {
      sumo_.step();
      agent_->note_step({.frame_due = true, .scripted = {}});
    }
    return observations();
  }
  std::vector<SignView> observations() {
    std::vector<std::byte> bytes(4096);
    rollout::ByteWriter writer(bytes);
    agent_->write(writer, false, false);
    rollout::ByteReader reader(std::span<const std::byte>(bytes).first(writer.used()));
    const auto views = reader.take<SignView>(reader.take_one<std::uint64_t>("count"), "signs");
    reader.expect_end();
    return {views.begin(), views.end()};
  }
  void show(ShowLimit command) { agent_->obey(std::as_bytes(std::span(&command, 1))); }
  /// Runs 300 seconds. @return mean speed before the on-ramp, divided by the speed limit
  double mean_speed() {
    double sum = 0.0;
    for (int decision = 0; decision < 10; ++decision) {
      for (int period = 0; period < 2; ++period) EXPECT_THAT(run_period(), IsEmpty());
      const auto views = run_period();
      EXPECT_THAT(views, SizeIs(1));
      sum += views.at(0)[1];
    }
    return sum / 10.0;
  }

  config::Config config_;
  sim::SumoEnv sumo_{{.scenario = "merge", .seed = 3}};
  rollout::EpisodeSpec spec_;
  std::unique_ptr<rollout::AgentInSimulation> agent_ =
      example::simulated_speed_limits().make(config_);
};

TEST_F(SignsInSimulationTest, ASignDecidesEveryThirtySecondsAndSlowsVehicles) {
  const auto first = observations();
  ASSERT_THAT(first, SizeIs(1));
  EXPECT_EQ(first[0][0], 0.0F) << "at first the road is empty";
  EXPECT_EQ(first[0][6], 1.0F) << "at first the sign shows the road's own limit";
  const double free = mean_speed();
  EXPECT_GT(free, 0.6);
  show({.sign = 0, .share = 3});
  EXPECT_LT(mean_speed(), 0.7 * free);
}

TEST_F(SignsInSimulationTest, RefusesCommandsToSignsThatDoNotExist) {
  EXPECT_THROW(show({.sign = 1, .share = 0}), WorkerError);
  EXPECT_THROW(show({.sign = 0, .share = 4}), WorkerError);
  EXPECT_THROW(show({.sign = -1, .share = 0}), WorkerError);
}

class SpeedLimitsTest : public RunFolderTest {
 protected:
  /// The command of a training. Later arguments override earlier ones. The learning rate is so high
  /// that one step changes many decisions.
  [[nodiscard]] std::string command(int ranks, const std::string& run,
                                    const std::string& arguments = "") const {
    return TRAFFIC_SOURCE_DIR "/launch/mpirun.sh -np " + std::to_string(ranks) +
           " " TRAFFIC_BIN_DIR "/speed_limits " TRAFFIC_SOURCE_DIR
           "/tests/examples/speed_limits/speed_limits.toml --set run.device=cpu "
           "--set comm.timeout_s=60 --set episodes.baseline_episodes=2 --set "
           "training.eval_episodes=2 --set training.final_episodes=2 --set training.iterations=2 "
           "--set episodes.train_batch_size=180 --set speed_limits.learning_rate=5 "
           "--set episodes.baseline_cache=" +
           (dir_ / "baselines").string() + " --run-dir " + (dir_ / run).string() + " " + arguments;
  }
  /// The metrics of an iteration. The first iteration has the number 1.
  [[nodiscard]] nlohmann::json metrics(const std::string& run, int iteration) const {
    std::ifstream file(dir_ / run / "metrics.jsonl");
    std::string line;
    while (std::getline(file, line)) {
      const auto values = nlohmann::json::parse(line);
      if (values["step"] == iteration && values.contains("speed_limits/decisions")) return values;
    }
    ADD_FAILURE() << "no metrics of iteration " << iteration;
    return {};
  }
  /// Mean return in the second iteration, whose episodes depend on what the first one learned.
  [[nodiscard]] double second_return(const std::string& run) const {
    return metrics(run, 2)["speed_limits/mean_return"].get<double>();
  }
};

TEST_F(SpeedLimitsTest, LearnsToTheSameBitsOnAnyNumberOfRanks) {
  for (const int ranks : {1, 2}) {
    const std::string run = std::to_string(ranks);
    const Outcome outcome = run_program(command(ranks, run));
    ASSERT_EQ(outcome.exit_code, 0) << outcome.output;
    // Two episodes of 900 s, with a decision every 30 s.
    EXPECT_EQ(metrics(run, 1)["speed_limits/decisions"], 60.0);
    EXPECT_EQ(second_return(run), second_return("1"));
    EXPECT_EQ(summary(run)["parameters_xxh3"], summary("1")["parameters_xxh3"]);
    EXPECT_EQ(summary(run)["result"], summary("1")["result"]);
    EXPECT_EQ(summary(run)["faults"]["lost_episodes"], 0);
  }
  const Outcome still = run_program(command(1, "still", "--set speed_limits.learning_rate=0"));
  ASSERT_EQ(still.exit_code, 0) << still.output;
  EXPECT_EQ(metrics("still", 1)["speed_limits/mean_return"],
            metrics("1", 1)["speed_limits/mean_return"]);
  EXPECT_NE(second_return("still"), second_return("1"));
}

TEST_F(SpeedLimitsTest, LearnsBesideVehicles) {
  const Outcome outcome = run_program(command(
      2, "run",
      "--set 'env.agents=[\"vehicles\", \"speed_limits\"]' --set training.iterations=1 --set "
      "'vehicles.inputs=[\"features\"]' --set vehicles.hidden_dim=16 --set ppo.num_epochs=1"));
  ASSERT_EQ(outcome.exit_code, 0) << outcome.output;
  EXPECT_EQ(metrics("run", 1)["speed_limits/decisions"], 60.0);
  EXPECT_TRUE(metrics("run", 1).contains("train/policy_gradient_loss"))
      << "the vehicles must learn, too";
}

TEST_F(SpeedLimitsTest, AnAddedAgentCanBeChosenAndHasItsOwnSettings) {
  const Outcome help = run_program(TRAFFIC_BIN_DIR "/speed_limits --help-config");
  EXPECT_THAT(help.output,
              AllOf(HasSubstr("[speed_limits]"), HasSubstr("vehicles, lights, speed_limits")));
  const auto refused = [&](const std::string& arguments) {
    const Outcome outcome = run_program(command(1, "refused", arguments));
    EXPECT_EQ(outcome.exit_code, 2) << arguments;
    return outcome.output;
  };
  EXPECT_THAT(refused("--set run.phase=dqn"), HasSubstr("learn by policy gradient"));
  EXPECT_THAT(refused("--set env.objective=delay"), HasSubstr("expected ocr"));
  EXPECT_THAT(refused("--set 'env.agents=[\"trams\"]'"), HasSubstr("env.agents"));
}

}  // namespace
}  // namespace traffic::test
