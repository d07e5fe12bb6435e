/// Runs the example cart_pole as a reader of docs/design/extending.md would, and checks that the
/// document shows the code that is compiled.
#include <signal.h>

#include <iterator>
#include <regex>
#include <string>

#include "support/run_folder_test.h"

namespace traffic::test {
namespace {

using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;

std::string text_of(const fs::path& path) {
  std::ifstream in(path);
  EXPECT_TRUE(in) << path;
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

class CartPoleTest : public RunFolderTest {
 protected:
  /// The command of a training. Later arguments override earlier ones.
  [[nodiscard]] std::string command(int ranks, const std::string& run,
                                    const std::string& arguments = "") const {
    return TRAFFIC_SOURCE_DIR "/launch/mpirun.sh -np " + std::to_string(ranks) +
           " " TRAFFIC_BIN_DIR
           "/cart_pole --set run.device=cpu --set comm.timeout_s=60 "
           "--run-dir " +
           (dir_ / run).string() + " " + arguments;
  }
};

TEST_F(CartPoleTest, LearnsToBalanceToTheLimit) {
  const Outcome outcome = run_program(command(2, "run"));
  ASSERT_EQ(outcome.exit_code, 0) << outcome.output;
  EXPECT_EQ(summary("run")["result"]["mean_reward"], 500.0);
  std::ifstream metrics(dir_ / "run/metrics.jsonl");
  std::string line;
  ASSERT_TRUE(std::getline(metrics, line));
  const auto first = nlohmann::json::parse(line);
  EXPECT_EQ(first["step"], 1);
  EXPECT_LT(first["rollout/ep_rew_mean"], 100.0)
      << "candidates with random weights should fall early";
  EXPECT_EQ(summary("run")["training"], "cross_entropy");
  EXPECT_EQ(summary("run")["faults"]["lost_episodes"], 0);
  EXPECT_TRUE(fs::exists(dir_ / "run/checkpoints/cross_entropy.h5"));
  EXPECT_TRUE(fs::exists(dir_ / "run/weights/model.safetensors"));
}

TEST_F(CartPoleTest, TheCardOfItsWeightsSaysNothingOfTraffic) {
  ASSERT_EQ(run_program(command(1, "run", "--set cem.iterations=1")).exit_code, 0);
  const std::string card = text_of(dir_ / "run/weights/README.md");
  EXPECT_THAT(card, HasSubstr("# Policy of the run"));
  const std::string before_config = card.substr(0, card.find("```"));
  EXPECT_EQ(before_config.find("recorded"), std::string::npos) << before_config;
  EXPECT_EQ(before_config.find("optimiser"), std::string::npos) << before_config;
  EXPECT_EQ(before_config.find("SUMO"), std::string::npos) << before_config;
  EXPECT_EQ(before_config.find("sumo"), std::string::npos) << before_config;
}

TEST_F(CartPoleTest, AnyNumberOfRanksEndsWithTheSameBits) {
  for (const int ranks : {1, 2, 3}) {
    const std::string run = std::to_string(ranks);
    const Outcome outcome = run_program(command(ranks, run, "--set cem.iterations=8"));
    ASSERT_EQ(outcome.exit_code, 0) << outcome.output;
    EXPECT_EQ(summary(run)["world_size"], ranks);
    EXPECT_EQ(summary(run)["parameters_xxh3"], summary("1")["parameters_xxh3"]);
    EXPECT_EQ(summary(run)["result"], summary("1")["result"]);
  }
}

TEST_F(CartPoleTest, StoppedAndResumedItEndsWithTheSameBits) {
  // The run is so long that it can be stopped before its end on any machine.
  const std::string size =
      "--set cem.iterations=150 --set cem.episodes=8 --set "
      "cem.eval_interval=50 "
      "--set log.tensorboard=false";
  ASSERT_EQ(run_program(command(2, "whole", size)).exit_code, 0);
  BackgroundProgram program(command(2, "cut", size));
  ASSERT_TRUE(wait_for_step("cut", 3));
  program.send(SIGUSR1);  // to mpirun, which forwards it to the ranks
  ASSERT_EQ(program.wait(), 75);
  EXPECT_EQ(summary("cut")["status"], "stopped");
  EXPECT_LT(summary("cut")["steps"], 150);
  const Outcome resumed = run_program(command(2, "cut", size));
  ASSERT_EQ(resumed.exit_code, 0) << resumed.output;
  EXPECT_THAT(resumed.output, HasSubstr("going on from checkpoint"));
  EXPECT_EQ(summary("cut")["steps"], 150);
  EXPECT_EQ(summary("whole")["parameters_xxh3"], summary("cut")["parameters_xxh3"]);
  EXPECT_EQ(summary("whole")["result"], summary("cut")["result"]);
}

TEST_F(CartPoleTest, ADryRunChecksAndTrainsNothing) {
  const Outcome outcome = run_program(command(2, "run", "--dry-run"));
  ASSERT_EQ(outcome.exit_code, 0) << outcome.output;
  EXPECT_THAT(outcome.output, HasSubstr("training cross_entropy could start"));
  EXPECT_FALSE(fs::exists(dir_ / "run/metrics.jsonl"));
}

TEST_F(CartPoleTest, ItsKeysAreExplainedAndChecked) {
  const Outcome help = run_program(TRAFFIC_BIN_DIR "/cart_pole --help-config");
  EXPECT_EQ(help.exit_code, 0);
  EXPECT_THAT(help.output, AllOf(HasSubstr("[cem]"), ContainsRegex("population = +64 "),
                                 HasSubstr("Candidates of an iteration.")));
  const fs::path file = dir_ / "wrong.toml";
  std::ofstream(file) << "[cem]\npopulation = 1\n";
  const Outcome wrong = run_program(TRAFFIC_BIN_DIR "/cart_pole " + file.string());
  EXPECT_EQ(wrong.exit_code, 2);
  EXPECT_THAT(wrong.output, AllOf(HasSubstr("wrong.toml:2"), HasSubstr("cem.population: found 1"),
                                  HasSubstr("2 to 1000000")));
  const Outcome unknown = run_program(TRAFFIC_BIN_DIR "/cart_pole --phase cross_entropi");
  EXPECT_EQ(unknown.exit_code, 2);
  EXPECT_THAT(unknown.output, HasSubstr("did you mean 'cross_entropy'?"));
}

TEST(ExampleSources, IncludePublicHeadersAlone) {
  const std::regex line("#include (.*)");
  for (const char* example : {"cart_pole", "speed_limits"}) {
    const fs::path folder = fs::path(TRAFFIC_SOURCE_DIR "/tests/examples") / example;
    for (const auto& entry : fs::directory_iterator(folder)) {
      if (entry.path().filename().string().ends_with("_test.cpp")) continue;
      const std::string text = text_of(entry.path());
      for (std::sregex_iterator at(text.begin(), text.end(), line), end; at != end; ++at) {
        const std::string header = (*at)[1];
        const bool its_own = header.find('/') == std::string::npos &&
                             fs::exists(folder / header.substr(1, header.size() - 2));
        EXPECT_TRUE(its_own || header.front() == '<' || header.starts_with("\"traffic/"))
            << entry.path() << " includes " << header;
      }
    }
  }
}

/// Every cpp block of the document must be a copy of lines in one of the sources.
TEST(Extending, ShowsTheCodeThatIsCompiled) {
  std::string sources;
  for (const char* file :
       {"tests/examples/cart_pole/cart_pole.h", "tests/examples/cart_pole/cart_pole.cpp",
        "tests/examples/cart_pole/cross_entropy.h", "tests/examples/cart_pole/cross_entropy.cpp",
        "tests/examples/cart_pole/main.cpp", "tests/examples/cart_pole/CMakeLists.txt",
        "tests/rollout/pool/counting_env.cpp", "tests/examples/speed_limits/speed_limits.h",
        "tests/examples/speed_limits/speed_limits.cpp",
        "tests/examples/speed_limits/signs_in_simulation.cpp",
        "tests/examples/speed_limits/signs_agent.cpp",
        "tests/examples/speed_limits/speed_limits_env.cpp", "tests/examples/speed_limits/main.cpp",
        "tests/examples/speed_limits/CMakeLists.txt"}) {
    sources += text_of(fs::path(TRAFFIC_SOURCE_DIR) / file);
  }
  const std::string doc = text_of(TRAFFIC_SOURCE_DIR "/docs/design/extending.md");
  int blocks = 0;
  for (const std::string fence : {"```cpp\n", "```cmake\n"}) {
    for (auto at = doc.find(fence); at != std::string::npos; at = doc.find(fence, at + 1)) {
      const auto begin = at + fence.size();
      const std::string block = doc.substr(begin, doc.find("```", begin) - begin);
      EXPECT_NE(sources.find(block), std::string::npos)
          << "docs/design/extending.md shows code that no source contains:\n"
          << block;
      ++blocks;
    }
  }
  EXPECT_GE(blocks, 16);
}

}  // namespace
}  // namespace traffic::test
