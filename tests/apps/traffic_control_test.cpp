/// Control of a SUMO that somebody else has started, as users run it: the real program `sumo`, and
/// a second client that speaks TraCI in Python.
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <csignal>
#include <functional>
#include <sstream>
#include <thread>

#include "support/run_folder_test.h"
#include "traffic/os/descriptor.h"
#include "traffic/sim/controller_driver.h"
#include "traffic/sim/env_options.h"
#include "traffic/train/evaluate/environment.h"
#include "traffic/train/trainings.h"

namespace traffic::test {
namespace {

using ::testing::HasSubstr;

/// A port on which nobody listens now.
int free_port() {
  const os::Descriptor one(socket(AF_INET, SOCK_STREAM, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  bind(one.get(), reinterpret_cast<sockaddr*>(&address), size);
  getsockname(one.get(), reinterpret_cast<sockaddr*>(&address), &size);
  return ntohs(address.sin_port);
}

std::string sumocfg_of(const std::string& scenario) {
  return TRAFFIC_SOURCE_DIR "/configs/scenarios/" + scenario + "/" + scenario + ".sumocfg";
}

class TrafficControl : public RunFolderTest {
 protected:
  static constexpr int kSeed = 100;

  [[nodiscard]] BackgroundProgram sumo(const std::string& scenario, int clients,
                                       const std::string& arguments = "") const {
    return BackgroundProgram(TRAFFIC_SUMO_ROOT "/bin/sumo -c " + sumocfg_of(scenario) +
                             " --remote-port " + std::to_string(port_) + " --num-clients " +
                             std::to_string(clients) + " --seed " + std::to_string(kSeed) + " " +
                             arguments);
  }
  [[nodiscard]] BackgroundProgram second_client(const std::string& does) const {
    return BackgroundProgram("python3 " TRAFFIC_SOURCE_DIR
                             "/tests/apps/second_client.py " TRAFFIC_SUMO_ROOT "/tools " +
                             std::to_string(port_) + " " + does);
  }
  [[nodiscard]] std::string control(const std::string& arguments) const {
    return TRAFFIC_BIN_DIR "/traffic_control --port " + std::to_string(port_) + " " + arguments;
  }
  /// Two training iterations on `arterial`, with learning rates that change both policies.
  void train_joint() const {
    const Outcome trained = run_program(command_of(
        {.config = "joint.toml",
         .run = "joint",
         .arguments =
             "--set env.max_time_s=120 --set rollout.workers=1 --set rollout.envs_per_worker=1 "
             "--set training.iterations=2 --set episodes.train_batch_size=96 "
             "--set ppo.minibatch_size=48 --set training.eval_interval=2 "
             "--set training.eval_episodes=2 --set training.final_episodes=0 "
             "--set episodes.baseline_episodes=2 --set evaluation.seeds= --set ppo.target_kl=0 "
             "--set ppo.desired_kl=0 --set ppo.learning_rate=0.05 --set lights.ppo.target_kl=0 "
             "--set lights.ppo.learning_rate=0.1"}));
    ASSERT_EQ(trained.exit_code, 0) << trained.output;
  }

  /// Runs an evaluation of the controller in a child process. @return its commands, one line per
  /// decision, as traffic_control --json prints them
  [[nodiscard]] std::vector<nlohmann::json> commands_in_process(
      const std::string& scenario, const std::string& controller) const {
    const fs::path file = dir_ / "in_process.jsonl";
    const pid_t child = fork_child();
    if (child == 0) {
      try {
        write_commands(scenario, controller, file);
      } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
        _exit(1);
      }
      _exit(0);
    }
    int status = -1;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
    std::ifstream in(file);
    return lines_of(in);
  }

  static void write_commands(const std::string& scenario, const std::string& controller_name,
                             const fs::path& file) {
    train::register_trainings(train::shipped_trainings());
    const auto ignore = [](const std::string&) {};
    config::Config config = train::evaluation_config(
        {.controllers = {controller_name}, .scenarios = {scenario}}, {}, ignore);
    config.env = train::env_in_scenario(config.env, scenario, {}, ignore);
    sim::EnvOptions options = sim::env_options(config.env);
    options.seed = kSeed;
    sim::SumoEnv env(options);
    const auto controller = train::make_controller(config, controller_name);
    sim::ControllerDriver driver;
    driver.begin(controller.get(), env, kSeed);
    std::ofstream out(file);
    for (; !env.done(); env.step()) {
      const auto commands = driver.act(env);
      if (!driver.has_decided()) continue;
      nlohmann::json line = {{"time_s", env.time_s()},
                             {"vehicles", env.state().vehicles().size()},
                             {"commands", nlohmann::json::array()},
                             {"lights", nlohmann::json::array()}};
      for (const scene::Command& one : commands) {
        line["commands"].push_back({{"vehicle", env.name_of(one.vehicle_id)},
                                    {"command", scene::name_of(one.longitudinal)},
                                    {"lane_change", static_cast<int>(one.lane_change)},
                                    {"value", one.value},
                                    {"hold_s", one.hold_s}});
      }
      for (const scene::SignalCommand& one : driver.signal_commands()) {
        line["lights"].push_back({{"light", env.road().lights[static_cast<std::size_t>(one.light)]},
                                  {"green", one.green},
                                  {"left_s", one.left_s}});
      }
      out << line.dump() << '\n';
    }
  }

  static std::vector<nlohmann::json> lines_of(std::istream& in) {
    std::vector<nlohmann::json> lines;
    for (std::string line; std::getline(in, line);) {
      if (line.starts_with('{')) lines.push_back(nlohmann::json::parse(line));
    }
    return lines;
  }

  /// Compares the commands of an evaluation with those that traffic_control gives to a running SUMO
  /// with a second client. @param key "commands" or "lights": of which there must be some
  void expect_the_same(const std::string& scenario, const std::string& controller,
                       const std::string& key) const {
    const auto expected = commands_in_process(scenario, controller);
    BackgroundProgram server = sumo(scenario, 2);
    BackgroundProgram other = second_client("leave");
    const Outcome live = run_program(control("--scenario " + sumocfg_of(scenario) +
                                             " --json --controller '" + controller + "'"));
    ASSERT_EQ(live.exit_code, 0) << live.output;
    other.send(SIGKILL);  // SUMO runs until its last client has left
    server.wait();
    std::istringstream out(live.output);
    const auto found = lines_of(out);
    ASSERT_GE(found.size(), expected.size());  // env.max_time_s does not end a live control
    std::size_t commands = 0;
    for (std::size_t i = 0; i < expected.size(); ++i) {
      for (const char* name : {"time_s", "vehicles", "commands", "lights"}) {
        ASSERT_EQ(found[i][name], expected[i][name]) << "decision " << i << ": " << name;
      }
      commands += expected[i][key].size();
    }
    EXPECT_GT(commands, 10U);
  }

  int port_ = free_port();
};

TEST_F(TrafficControl, GivesVehiclesTheCommandsOfAnEvaluation) {
  expect_the_same("merge", "meter", "commands");
}

TEST_F(TrafficControl, GivesLightsTheCommandsOfAnEvaluation) {
  expect_the_same("lights_town", "greedy", "lights");
}

TEST_F(TrafficControl, AJointCheckpointDecidesAsInAnEvaluation) {
  train_joint();
  expect_the_same("arterial", "checkpoint:" + best("joint"), "lights");
  expect_the_same("arterial", "checkpoint:" + best("joint"), "commands");
}

TEST_F(TrafficControl, IsQuietWithoutATerminal) {
  const fs::path out = dir_ / "out";
  BackgroundProgram server = sumo("merge", 1);
  const Outcome live = run_program("sh -c '" + control("--scenario merge --controller meter") +
                                   " >" + out.string() + "'");
  EXPECT_EQ(live.exit_code, 0) << live.output;
  EXPECT_TRUE(fs::is_empty(out));
}

TEST_F(TrafficControl, ContinuesWhenAnotherClientLeaves) {
  BackgroundProgram server = sumo("merge", 2);
  BackgroundProgram other = second_client("leave 50");
  const Outcome live = run_program(control("--scenario merge --controller meter"));
  EXPECT_EQ(live.exit_code, 0) << live.output;
  EXPECT_THAT(live.output, HasSubstr("the simulation has ended after 900 s"));
}

TEST_F(TrafficControl, ContinuesWhenAnotherClientRemovesVehicles) {
  BackgroundProgram server = sumo("merge", 2);
  BackgroundProgram other = second_client("remove");
  const Outcome live = run_program(control("--scenario merge --controller meter"));
  EXPECT_EQ(live.exit_code, 0) << live.output;
  EXPECT_THAT(live.output, HasSubstr("the simulation has ended after 900 s"));
}

TEST_F(TrafficControl, EndsWhenAnotherClientVanishes) {
  BackgroundProgram server = sumo("merge", 2);
  BackgroundProgram other = second_client("vanish 50");
  const Outcome live = run_program(control("--scenario merge --controller meter"), 60);
  EXPECT_EQ(live.exit_code, 6) << live.output;
  EXPECT_THAT(live.output, HasSubstr("the simulator has ended the connection"));
}

TEST_F(TrafficControl, EndsWhenTheSimulatorDies) {
  BackgroundProgram server = sumo("merge", 2);
  BackgroundProgram other = second_client("sleep 50");
  std::thread killer([&] {
    usleep(5'000'000);
    server.send(SIGKILL);
  });
  const Outcome live = run_program(control("--scenario merge --controller meter"), 60);
  killer.join();
  other.send(SIGKILL);
  EXPECT_EQ(live.exit_code, 6) << live.output;
  EXPECT_THAT(live.output, HasSubstr("the simulator has ended the connection"));
}

TEST_F(TrafficControl, EndsWhenNoAnswerComesWithinItsPatience) {
  BackgroundProgram server = sumo("merge", 2);
  BackgroundProgram other = second_client("sleep 50");
  const Outcome live = run_program(control("--scenario merge --controller meter --patience 3"), 60);
  other.send(SIGKILL);
  EXPECT_EQ(live.exit_code, 6) << live.output;
  EXPECT_THAT(live.output, HasSubstr("no answer for 3 s"));
}

TEST_F(TrafficControl, AStopHandsTheLightsBackToTheirPrograms) {
  const fs::path seen = dir_ / "programs";
  const auto programs = [&] {
    std::ifstream in(seen);
    std::ostringstream text;
    text << in.rdbuf();
    return text.str();
  };
  const auto wait_for = [&](const std::function<bool()>& is_so) {
    for (int i = 0; i < 600 && !is_so(); ++i) usleep(100'000);
    return is_so();
  };
  BackgroundProgram server = sumo("lights_town", 2, "--end 100000");
  BackgroundProgram other = second_client("watch 0 " + seen.string());
  BackgroundProgram live(control("--scenario lights_town --controller greedy"));
  ASSERT_TRUE(wait_for([&] { return programs() == "online"; })) << programs();
  live.send(SIGTERM);
  EXPECT_EQ(live.wait(), 0);
  EXPECT_TRUE(wait_for([&] { return programs() == "0"; })) << programs();
  other.send(SIGKILL);
  server.wait();
}

TEST_F(TrafficControl, RefusesAPortWithoutASimulation) {
  const Outcome live = run_program(control("--scenario merge --controller meter"), 60);
  EXPECT_EQ(live.exit_code, 6) << live.output;
  EXPECT_THAT(live.output, HasSubstr("nobody listens at 127.0.0.1:" + std::to_string(port_)));
  EXPECT_THAT(live.output, HasSubstr("--remote-port " + std::to_string(port_)));
}

TEST_F(TrafficControl, RefusesAnotherVersionOfSumo) {
  BackgroundProgram other = second_client("version");
  const Outcome live = run_program(control("--scenario merge --controller meter"), 60);
  EXPECT_EQ(live.exit_code, 2) << live.output;
  EXPECT_THAT(live.output, HasSubstr("the simulator is 'SUMO 0.32.0', expected SUMO 1."));
}

TEST_F(TrafficControl, RefusesAnotherNetwork) {
  BackgroundProgram server = sumo("lane_drop", 1);
  const Outcome live = run_program(control("--scenario merge --controller meter"), 60);
  EXPECT_EQ(live.exit_code, 3) << live.output;
  EXPECT_THAT(live.output, HasSubstr("the running simulation has another network than"));
}

TEST_F(TrafficControl, RefusesACheckpointThatFitsNoVehicle) {
  train_joint();
  const Outcome live = run_program(control("--scenario merge --set 'env.cv_types=[\"bus\"]' "
                                           "--set env.cv_share=0 --controller checkpoint:" +
                                           best("joint")),
                                   60);
  EXPECT_EQ(live.exit_code, 2) << live.output;
  EXPECT_THAT(live.output, HasSubstr("no vehicle is of type 'bus'"));
}

TEST_F(TrafficControl, RefusesAnAddressWithoutAPort) {
  const Outcome live = run_program(TRAFFIC_BIN_DIR
                                   "/traffic_control --scenario merge --controller meter "
                                   "--connect somewhere");
  EXPECT_EQ(live.exit_code, 2) << live.output;
  EXPECT_THAT(live.output, HasSubstr("--connect: found 'somewhere', expected HOST:PORT"));
}

}  // namespace
}  // namespace traffic::test
