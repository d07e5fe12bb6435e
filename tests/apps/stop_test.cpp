/// Stops trainings at many places of the program, by each of the signals that request a stop. The
/// training must save its complete steps. The same command must then continue the training, which
/// ends with the same bits as a run without a stop. A fault point (TRAFFIC_FAULT) in the program
/// makes a process send itself the signal at the chosen place.
#include <csignal>

#include "train_fixture.h"

namespace traffic::test {
namespace {

constexpr int kStopped = 75;

/// A place of the program at which a test stops the training.
struct Place {
  const char* site;
  const char* step;
  int signal;
  bool may_be_done = false;  ///< the place is so late that the run may end as if not stopped
};

class StopTest : public TrainTest {
 protected:
  [[nodiscard]] std::string simulated(const char* preset, const std::string& run,
                                      const std::string& arguments,
                                      const std::string& environment) const {
    return "env " + environment +
           " " TRAFFIC_SOURCE_DIR "/launch/mpirun.sh -np 1 " TRAFFIC_BIN_DIR
           "/traffic_train " TRAFFIC_SOURCE_DIR "/configs/" +
           preset +
           ".toml --set run.device=cpu --set comm.timeout_s=60 --set evaluation.seeds= "
           "--set checkpoint.save_interval_steps=1 --run-dir " +
           (dir_ / run).string() + " " + arguments;
  }

  /// Stops a run at one place after the other, and compares its end with that of an uninterrupted
  /// run.
  /// @param command_of makes the command from the run's name and environment variables
  template <typename Command>
  void expect_stops_cost_nothing(const Command& command_of, const std::vector<Place>& places) {
    const Outcome whole = run_program(command_of("whole", "X=1"));
    ASSERT_EQ(whole.exit_code, 0) << whole.output;
    for (const Place& place : places) {
      const std::string fault =
          std::string(place.site) + ":0:" + place.step + ":signal:" + std::to_string(place.signal);
      const Outcome outcome = run_program(command_of("cut", "TRAFFIC_FAULT=" + fault));
      EXPECT_THAT(outcome.output,
                  ::testing::HasSubstr("fault signal at " + std::string(place.site)))
          << "the run did not reach the place " << place.site;
      if (place.may_be_done && outcome.exit_code == 0) continue;
      ASSERT_EQ(outcome.exit_code, kStopped) << fault << "\n" << outcome.output;
      EXPECT_EQ(summary("cut")["status"], "stopped") << fault;
    }
    const Outcome resumed = run_program(command_of("cut", "X=1"));
    ASSERT_EQ(resumed.exit_code, 0) << resumed.output;
    EXPECT_EQ(summary("cut")["status"], "done");
    EXPECT_EQ(summary("cut")["parameters_xxh3"], summary("whole")["parameters_xxh3"]);
  }
};

TEST_F(StopTest, AtEachPlaceOfTheWorldModelsTraining) {
  const auto command_of = [&](const std::string& run, const std::string& environment) {
    return command(2, run, "--set train.epochs=2 --set checkpoint.save_interval_steps=4",
                   environment);
  };
  expect_stops_cost_nothing(command_of, {{"plan.begin", "1", SIGUSR1},
                                         {"loop.resume", "*", SIGTERM},
                                         {"train.step", "5", SIGHUP},
                                         {"checkpoint.save", "8", SIGINT},
                                         {"loop.evaluate", "*", SIGUSR1, /*may_be_done=*/true},
                                         {"loop.finish", "*", SIGTERM, /*may_be_done=*/true}});
}

TEST_F(StopTest, AtEachPlaceOfTheControllersTraining) {
  const auto command_of = [&](const std::string& run, const std::string& environment) {
    return simulated(
        "rl_only", run,
        "--set env.max_time_s=60 --set rollout.workers=1 "
        "--set rollout.envs_per_worker=2 --set vehicles.hidden_dim=16 "
        "--set training.iterations=3 --set episodes.train_batch_size=40 "
        "--set ppo.minibatch_size=20 --set ppo.num_epochs=1 --set training.eval_interval=2 "
        "--set training.eval_episodes=2 --set episodes.baseline_episodes=2 "
        "--set episodes.baseline_cache=" +
            (dir_ / "cache").string(),
        environment);
  };
  expect_stops_cost_nothing(command_of, {{"phase2.collect", "1", SIGTERM},
                                         {"train.step", "*", SIGUSR1},
                                         {"checkpoint.save", "2", SIGUSR1},
                                         {"loop.evaluate", "*", SIGHUP}});
}

TEST_F(StopTest, AtEachPlaceOfTheLightsTraining) {
  const auto command_of = [&](const std::string& run, const std::string& environment) {
    return simulated("signals", run,
                     "--preset test --set env.scenario=lights_arterial "
                     "--set env.max_time_s=60 --set rollout.envs_per_worker=1 "
                     "--set training.iterations=2 --set episodes.train_batch_size=24 "
                     "--set episodes.baseline_episodes=2 --set episodes.baseline_cache=" +
                         (dir_ / "cache").string(),
                     environment);
  };
  expect_stops_cost_nothing(command_of, {{"phase2.collect", "1", SIGUSR1},
                                         {"loop.evaluate", "*", SIGTERM, /*may_be_done=*/true}});
}

TEST_F(StopTest, AtEachPlaceOfTheSnakesTraining) {
  const auto command_of = [&](const std::string& run, const std::string& environment) {
    return simulated("snakes", run, "--preset test --set offpolicy.max_episodes=64", environment);
  };
  expect_stops_cost_nothing(command_of, {{"train.step", "1", SIGHUP},
                                         {"loop.evaluate", "*", SIGUSR1, /*may_be_done=*/true}});
}

TEST_F(StopTest, AtEachPlaceOfQLearningsTraining) {
  const auto command_of = [&](const std::string& run, const std::string& environment) {
    return simulated("dqn", run,
                     "--preset test --set env.max_time_s=60 --set rollout.workers=1 "
                     "--set rollout.envs_per_worker=2 --set episodes.train_batch_size=28 "
                     "--set episodes.rollout_fragment_length=7 --set episodes.baseline_episodes=2 "
                     "--set offpolicy.learning_starts=40 --set offpolicy.n_step=3 "
                     "--set offpolicy.batch_size=16 --set episodes.baseline_cache=" +
                         (dir_ / "cache").string(),
                     environment);
  };
  expect_stops_cost_nothing(command_of, {{"dqn.collect", "2", SIGTERM},
                                         {"loop.evaluate", "*", SIGUSR1, /*may_be_done=*/true}});
}

}  // namespace
}  // namespace traffic::test
