/// Runs every command of README.md and docs/. Trainings run at a small size, and some programs only
/// read and check their arguments. The list kTreatments says what the test appends to a command, or
/// why it does not run the command.
#include <algorithm>
#include <regex>
#include <string>
#include <vector>

#include "support/run_folder_test.h"

namespace traffic::test {
namespace {

struct Command {
  std::string file;
  std::string text;
};

/// Commands of the ```sh blocks of a document, without comments. A command that continues over
/// several lines is one command.
std::vector<Command> commands_of(const fs::path& file) {
  const std::regex comment(R"(\s+#.*$|^#.*$)");
  std::vector<Command> commands;
  std::ifstream in(file);
  std::string whole;
  bool inside = false;
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("```")) {
      inside = line == "```sh";
      continue;
    }
    if (!inside) continue;
    whole += std::regex_replace(line, comment, "");
    if (whole.ends_with('\\')) {
      whole.back() = ' ';
      continue;
    }
    if (!whole.empty()) commands.push_back({file.filename(), whole});
    whole.clear();
  }
  return commands;
}

std::vector<Command> all_commands() {
  std::vector<fs::path> files{fs::path(TRAFFIC_SOURCE_DIR) / "README.md"};
  for (const auto& entry :
       fs::recursive_directory_iterator(fs::path(TRAFFIC_SOURCE_DIR) / "docs")) {
    if (entry.path().extension() == ".md") files.push_back(entry.path());
  }
  std::vector<Command> all;
  for (const fs::path& file : files) {
    const auto some = commands_of(file);
    all.insert(all.end(), some.begin(), some.end());
  }
  return all;
}

std::string replaced(std::string text, const char* pattern, const std::string& by) {
  return std::regex_replace(text, std::regex(pattern), by);
}

bool matches(const Command& command, const char* pattern) {
  return std::regex_search(command.text, std::regex(pattern));
}

/// The guide whose recordings and trainings the test really runs, because other commands need their
/// results.
constexpr const char* kPhasesGuide = "three-phases.md";
constexpr const char* kRecords = "^\\./data_prep/data_prep record ";
constexpr const char* kTrainsForReal = "traffic_train .*--run-dir runs/(first|second|third)\\b";

/// Arguments that make the trainings of kPhasesGuide small. They leave the shipped sizes in [model]
/// and [vehicles].
constexpr const char* kSmall =
    " --set train.max_steps=4 --set data.batch_size=4 --set env.max_time_s=45 "
    "--set rollout.workers=1 --set rollout.envs_per_worker=2 --set training.iterations=1 "
    "--set episodes.train_batch_size=30 --set ppo.minibatch_size=15 --set ppo.num_epochs=1 "
    "--set training.eval_interval=1 --set training.eval_episodes=2 --set "
    "episodes.baseline_episodes=2 "
    "--set evaluation.seeds=1..2";

/// How the test runs a command; the first pattern that matches applies.
struct Treatment {
  const char* pattern;
  const char* appended;  ///< arguments to append; null means that the test does not run the command
  const char* reason = "";  ///< why the test does not run the command; for readers only
};
const std::vector<Treatment> kTreatments{
    {"traffic_train --help-config", ""},
    {"traffic_eval .*--against |^\\./snakes .*checkpoint:", nullptr,
     "snakes_training_test.cpp does it with a player that it trains"},
    {"traffic_eval --driver .*checkpoint:", nullptr,
     "driving_training_test.cpp does it with a policy that it trains"},
    {"traffic_(train|eval|doctor|control) ", " --print-config"},
    {"traffic_export |launch/python/", nullptr,
     "TheExportGuidesCommandsWorkInTheirOrder runs them with a policy that it trains"},
    {"bin/sumo-gui ", nullptr,
     "needs a display; traffic_control_test.cpp uses sumo, which needs none"},
    {"^\\.deps/sumo/sumo/bin/sumo .* --end ", " --no-step-log"},
    {"^\\.deps/sumo/sumo/bin/sumo ", " --end 100 --no-step-log"},
    {"record --scenes ", " --set env.max_time_s=30"},
    {kRecords, " --episodes 3 --steps 60"},
    {"^\\./data_prep/data_prep ", ""},
    {"^\\./snakes", ""},
    {"^\\./launch/(train|manage)\\.sh ", nullptr,
     "launch_test.cpp runs them with stand-ins for mpirun and traffic_train"},
    {"^\\./traffic_report ", ""},
    {"^\\./traffic_tune ", " --dry-run"},
    {"^\\./launch/(quickstart|test|setup|build)\\.sh", nullptr,
     "installs or builds; launch_test.cpp runs the first two with stand-ins for these steps"},
    {"sbatch ", nullptr,
     "needs a cluster; tests/slurm starts a small cluster and runs the jobs on it"},
    {"^ctest ", nullptr, "runs this test"},
    {"^python3 -m pip |^PYTHONPATH=launch/python ", nullptr,
     "installs packages; the tests python and python_ppo run the examples of the guide"},
    {"bin/(cart_pole|speed_limits) ", nullptr, "tests/examples train with them"},
    {"^h5(ls|dump) ", nullptr, "tools of HDF5, which the project does not install"},
    {"^export NCCL_", nullptr, "only sets a variable of NCCL"},
    {"^tests/benchmarks/(compare_|resco)|build/release/bin/bench_", nullptr,
     "measures for minutes"},
};

/// A folder that looks like the repository after a build, in which the commands of kPhasesGuide
/// have run.
class DocumentedCommands : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    root_ = fs::temp_directory_path() / ("documented_commands_" + std::to_string(getpid()));
    fs::create_directories(root_ / "data_prep");
    fs::create_directories(root_ / "build");
    for (const char* name : {"configs", "launch", "tests", ".deps"}) {
      fs::create_symlink(fs::path(TRAFFIC_SOURCE_DIR) / name, root_ / name);
    }
    const fs::path programs = TRAFFIC_BIN_DIR;
    for (const char* name : {"traffic_train", "traffic_eval", "traffic_doctor", "traffic_control",
                             "traffic_export", "traffic_report", "traffic_tune", "snakes"}) {
      fs::create_symlink(programs / name, root_ / name);
    }
    fs::create_symlink(programs / "data_prep", root_ / "data_prep/data_prep");
    fs::create_symlink(programs.parent_path(), root_ / "build/cuda");
    for (const char* pattern : {kRecords, kTrainsForReal}) {
      for (const Command& command : all_commands()) {
        if (command.file != kPhasesGuide || !matches(command, pattern)) continue;
        run_.push_back({command, run(small(command.text))});
      }
    }
  }
  static void TearDownTestSuite() { fs::remove_all(root_); }

  static std::string small(const std::string& text) {
    if (text.find(" record ") != std::string::npos) {
      return replaced(text, "--episodes \\d+", "--episodes 5 --steps 100 --jobs 2");
    }
    return text + kSmall;
  }

  /// Runs a command in the folder, with the test's files in place of the user's.
  static Outcome run(std::string text) {
    text = replaced(text, "\\bPATH\\b", "runs/third/checkpoints/phase3.h5");
    text = replaced(text, "\\bCONFIG\\b", "configs/phase1.toml");
    text = replaced(text, "path/to/my\\.sumocfg", "configs/scenarios/merge/merge.sumocfg");
    text = replaced(text, "\\bmpirun ", "launch/mpirun.sh ");
    return run_program("env -C " + root_.string() + " " + text);
  }

  struct Done {
    Command command;
    Outcome outcome;
  };
  inline static fs::path root_;
  inline static std::vector<Done> run_;
};

TEST_F(DocumentedCommands, PhasesRunOneByOneStartFromThePreviousResult) {
  ASSERT_EQ(run_.size(), 4U) << kPhasesGuide
                             << " should have one command that records and three that train";
  for (const Done& done : run_) {
    ASSERT_EQ(done.outcome.exit_code, 0) << done.command.text << "\n" << done.outcome.output;
  }
  EXPECT_TRUE(fs::exists(root_ / "runs/third/checkpoints/phase3.h5"));
  EXPECT_NE(run_[2].outcome.output.find("starting from runs/first/checkpoints/phase1.h5"),
            std::string::npos);
  EXPECT_NE(run_[3].outcome.output.find("perception and controller"), std::string::npos);
}

/// Runs the README's trainings and comparisons at a small size, one after the other. PATH stands
/// for the controller that the first training makes.
TEST_F(DocumentedCommands, TheReadmesCommandsWorkInTheirOrder) {
  constexpr const char* kTraining =
      " --preset test --set run.device=cpu --set search.minutes=0 --set env.objective=delay --set "
      "env.max_time_s=60 --set "
      "training.iterations=1 --set training.eval_interval=1 --set training.eval_episodes=1 --set "
      "training.final_episodes=1 --set episodes.train_batch_size=120 --set "
      "episodes.baseline_episodes=2 --set evaluation.seeds=1..2 --run-dir runs/readme";
  int trainings = 0;
  int comparisons = 0;
  for (const Command& command : commands_of(TRAFFIC_SOURCE_DIR "/README.md")) {
    std::string text = command.text;
    if (matches(command, "traffic_train ")) {
      text += kTraining + std::to_string(++trainings);
    } else if (matches(command, "traffic_(doctor|eval) ")) {
      ++comparisons;
      text = replaced(text, "\\bPATH\\b", "runs/readme1/checkpoints/best.h5");
      text = replaced(text, "1000\\.\\.1019", "1000..1001") + " --set env.max_time_s=60";
      if (matches(command, "traffic_doctor ")) text += " --minutes 0.1";
    } else {
      continue;
    }
    const Outcome outcome = run(text);
    ASSERT_EQ(outcome.exit_code, 0) << text << "\n" << outcome.output;
  }
  EXPECT_EQ(trainings, 3);
  EXPECT_EQ(comparisons, 2);
}

/// Runs the guide's training and its simulations at a small size.
TEST_F(DocumentedCommands, TheExportGuidesCommandsWorkInTheirOrder) {
  const auto commands = commands_of(TRAFFIC_SOURCE_DIR "/docs/guide/export.md");
  for (const Command& command : commands) {
    std::string text = command.text;
    if (matches(command, "traffic_train ")) {
      text +=
          " --preset test --set run.device=cpu --set env.scenario=lights_arterial "
          "--set env.scenarios=[] --set env.max_time_s=60 --set training.iterations=1 "
          "--set training.eval_interval=1 --set training.eval_episodes=1 "
          "--set training.final_episodes=1 --set episodes.train_batch_size=12 "
          "--set episodes.baseline_episodes=2 --set evaluation.seeds=1..2";
    }
    if (matches(command, "traffic_export ")) text += " --states 3";
    if (matches(command, "control_lights\\.py ")) text += " --seconds 60";
    const Outcome outcome = run(text);
    ASSERT_EQ(outcome.exit_code, 0) << text << "\n" << outcome.output;
  }
  EXPECT_EQ(commands.size(), 5U);
}

TEST_F(DocumentedCommands, AreUnderstoodByTheirPrograms) {
  const std::vector<Command> commands = all_commands();
  ASSERT_GT(commands.size(), 20U);
  for (const Command& command : commands) {
    const bool has_run = command.file == kPhasesGuide &&
                         (matches(command, kTrainsForReal) || matches(command, kRecords));
    if (has_run) continue;
    const auto how =
        std::find_if(kTreatments.begin(), kTreatments.end(),
                     [&](const Treatment& one) { return matches(command, one.pattern); });
    if (how == kTreatments.end()) {
      ADD_FAILURE() << command.file << ": kTreatments has no pattern for: " << command.text;
      continue;
    }
    if (how->appended == nullptr) continue;
    const Outcome outcome = run(command.text + how->appended);
    EXPECT_EQ(outcome.exit_code, 0) << command.file << ": " << command.text << "\n"
                                    << outcome.output;
  }
}

TEST_F(DocumentedCommands, TheQuickstartBuildsThePrograms) {
  std::ifstream in(TRAFFIC_SOURCE_DIR "/launch/quickstart.sh");
  const std::string script{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  for (const Command& command : commands_of(TRAFFIC_SOURCE_DIR "/README.md")) {
    std::smatch program;
    if (!std::regex_search(command.text, program, std::regex("\\./(?:data_prep/)?(\\w+) ")))
      continue;
    const std::string name = program[1];
    EXPECT_TRUE(std::regex_search(script, std::regex("launch/build\\.sh .*\\b" + name + "\\b")))
        << "launch/quickstart.sh does not build " << name;
  }
}

}  // namespace
}  // namespace traffic::test
