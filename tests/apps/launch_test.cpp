/// Runs the scripts of launch/. Stand-ins take the place of the programs that install, build and
/// train; they only record how they are called.
#include <csignal>
#include <cstdlib>

#include "support/run_folder_test.h"

namespace traffic::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class LaunchTest : public RunFolderTest {
 protected:
  /// Makes a folder like the repository, with the real scripts and with stand-ins for programs.
  void SetUp() override {
    RunFolderTest::SetUp();
    for (const char* name : {"preset.sh", "quickstart.sh", "test.sh", "train.sh", "manage.sh"}) {
      link("launch", name);
    }
    for (const char* name : {"setup.sh", "build.sh", "check.sh", "mpirun.sh"}) {
      write_program(dir_ / "launch" / name, note(name));
    }
    write_program(
        dir_ / "data_prep/data_prep",
        note("data_prep") + "[ $1 != record ] || { mkdir -p $5; touch $5/merge-0000.h5; }\n");
    write_program(dir_ / "bin/ctest", note("ctest"));
  }

  void link(const std::string& folder, const std::string& name) const {
    fs::create_directories(dir_ / folder);
    fs::create_symlink(fs::path(TRAFFIC_SOURCE_DIR) / folder / name, dir_ / folder / name);
  }
  static void write_program(const fs::path& path, const std::string& body) {
    fs::create_directories(path.parent_path());
    std::ofstream(path) << "#!/bin/sh\n" << body;
    fs::permissions(path, fs::perms::owner_all);
  }
  [[nodiscard]] std::string note(const std::string& name) const {
    return "echo \"" + name + " $*\" >> " + (dir_ / "calls").string() + "\n";
  }
  void give_gpus(int count) const {
    std::string body;
    for (int i = 0; i < count; ++i) body += "echo 'GPU " + std::to_string(i) + ": of a test'\n";
    write_program(dir_ / "bin/nvidia-smi", body);
  }
  [[nodiscard]] Outcome run(const std::string& command) const {
    return run_program("env PATH=" + (dir_ / "bin").string() + ":$PATH " +
                       (dir_ / command).string());
  }
  [[nodiscard]] std::string calls() const {
    std::ifstream in(dir_ / "calls");
    return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  }
};

TEST_F(LaunchTest, AMachineWithGpusGetsTheBuildForGpus) {
  give_gpus(0);
  EXPECT_EQ(run("launch/preset.sh").output, "release\n");
  EXPECT_EQ(run("launch/preset.sh --gpus").output, "0\n");
  give_gpus(3);
  EXPECT_EQ(run("launch/preset.sh").output, "cuda\n");
  EXPECT_EQ(run("launch/preset.sh --gpus").output, "3\n");
  write_program(dir_ / "bin/nvidia-smi", "echo 'couldn''t communicate with the driver'; exit 9\n");
  EXPECT_EQ(run("launch/preset.sh").output, "release\n");
}

TEST_F(LaunchTest, QuickstartAndTestsUseTheGpus) {
  give_gpus(3);
  ASSERT_EQ(run("launch/quickstart.sh").exit_code, 0);
  ASSERT_EQ(run("launch/test.sh -R something").exit_code, 0);
  EXPECT_THAT(calls(), HasSubstr("build.sh cuda traffic_train "));
  EXPECT_THAT(calls(), HasSubstr("mpirun.sh -np 3 ./traffic_train"));
  EXPECT_THAT(calls(), HasSubstr("build.sh cuda\n"));
  EXPECT_THAT(calls(), HasSubstr("ctest --test-dir build/cuda "));
  EXPECT_THAT(calls(), Not(HasSubstr("release")));
}

TEST_F(LaunchTest, WithoutGpusQuickstartAndTestsUseTheCpu) {
  give_gpus(0);
  ASSERT_EQ(run("launch/quickstart.sh").exit_code, 0);
  ASSERT_EQ(run("launch/test.sh").exit_code, 0);
  EXPECT_THAT(calls(), HasSubstr("build.sh release traffic_train "));
  EXPECT_THAT(calls(), HasSubstr("mpirun.sh -np 2 ./traffic_train"));
  EXPECT_THAT(calls(), HasSubstr("ctest --test-dir build/release "));
  EXPECT_THAT(calls(), Not(HasSubstr("cuda")));
}

TEST_F(LaunchTest, QuickstartRecordsTheDataThatConfigurationsName) {
  give_gpus(0);
  ASSERT_EQ(run("launch/quickstart.sh").exit_code, 0);
  EXPECT_TRUE(fs::exists(dir_ / "data/merge/merge-0000.h5"));
  EXPECT_FALSE(fs::exists(dir_ / "data/merge.recording"));
  EXPECT_THAT(calls(), Not(HasSubstr("data.files")))
      << "configs/hybrid.toml already names data/merge";
  // Only recordings use the default seeds of data_prep, so the script need not choose seeds.
  EXPECT_THAT(calls(), Not(HasSubstr("--seeds")));
  // A second quickstart uses the recordings of the first.
  fs::remove(dir_ / "calls");
  ASSERT_EQ(run("launch/quickstart.sh").exit_code, 0);
  EXPECT_THAT(calls(), Not(HasSubstr(" record ")));
}

TEST_F(LaunchTest, QuickstartDoesNotChangeRecordingsOfTheUser) {
  give_gpus(0);
  fs::create_directories(dir_ / "data/merge");
  std::ofstream(dir_ / "data/merge/mine.h5") << "mine";
  ASSERT_EQ(run("launch/quickstart.sh").exit_code, 0);
  EXPECT_EQ(fs::file_size(dir_ / "data/merge/mine.h5"), 4U);
  EXPECT_THAT(calls(), Not(HasSubstr(" record ")));
}

TEST_F(LaunchTest, QuickstartRepeatsAnInterruptedRecording) {
  give_gpus(0);
  write_program(dir_ / "data_prep/data_prep",
                note("data_prep") +
                    "[ $1 != record ] || { mkdir -p $5; touch $5/merge-0000.h5; exit 75; }\n");
  EXPECT_EQ(run("launch/quickstart.sh").exit_code, 75);
  EXPECT_FALSE(fs::exists(dir_ / "data/merge"));
}

TEST_F(LaunchTest, QuickstartTrainsBeforeItBuildsTheOtherPrograms) {
  give_gpus(0);
  ASSERT_EQ(run("launch/quickstart.sh").exit_code, 0);
  const std::string all = calls();
  EXPECT_LT(all.find("./traffic_train configs/hybrid.toml"), all.find("traffic_doctor"));
}

/// Adds a stand-in for traffic_train, and one for mpirun. The first job of mpirun ends with the
/// first exit code in the file `codes`, the second with the second, and so on.
class TrainScriptTest : public LaunchTest {
 protected:
  void SetUp() override {
    LaunchTest::SetUp();
    give_gpus(0);
    write_program(dir_ / "traffic_train",
                  "printf '[run]\\nname = \"tried\"\\ndir = \"%s\"\\n\\n' \"$RUN_DIR\"\n");
    set_codes("0");
  }
  void set_codes(const std::string& codes) const {
    std::ofstream(dir_ / "codes") << codes << "\n";
    write_program(dir_ / "launch/mpirun.sh",
                  note("mpirun.sh") +
                      "read -r code rest < codes; [ -z \"$rest\" ] || echo \"$rest\" > codes\n"
                      "echo 'what is wrong' >&2; exit $code\n");
  }
};

TEST_F(TrainScriptTest, ThereAreAsManyRanksAsGpus) {
  ASSERT_EQ(run("launch/train.sh configs/x.toml").exit_code, 0);
  EXPECT_THAT(calls(),
              HasSubstr("--quiet -np 2 ./traffic_train configs/x.toml --run-dir runs/tried/"));
  give_gpus(3);
  ASSERT_EQ(run("launch/train.sh configs/x.toml --seed 1").exit_code, 0);
  EXPECT_THAT(calls(), HasSubstr("-np 3 ./traffic_train configs/x.toml --seed 1 "));
  ASSERT_EQ(run("launch/train.sh -n 5 configs/x.toml").exit_code, 0);
  EXPECT_THAT(calls(), HasSubstr("-np 5 "));
}

TEST_F(TrainScriptTest, RestartsAfterALostRankButNotAfterAMistake) {
  set_codes("7 6 0");
  ASSERT_EQ(run("launch/train.sh --restarts 3 configs/x.toml --resume never").exit_code, 0);
  EXPECT_THAT(calls(), HasSubstr("configs/x.toml --resume never --run-dir"));
  const std::string all = calls();
  EXPECT_EQ(std::count(all.begin(), all.end(), '\n'), 3);
  EXPECT_NE(all.rfind("--resume auto\n"), std::string::npos);
  set_codes("7 7 7 7 7");
  fs::remove(dir_ / "calls");
  EXPECT_EQ(run("launch/train.sh --restarts 1 configs/x.toml").exit_code, 7);
  const std::string twice = calls();
  EXPECT_EQ(std::count(twice.begin(), twice.end(), '\n'), 2);
  set_codes("2");
  const Outcome outcome = run("launch/train.sh configs/x.toml");
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_TRUE(outcome.output.ends_with("what is wrong\n")) << outcome.output;
}

TEST_F(TrainScriptTest, TheCommandThatContinuesAStoppedTrainingCanBeCopied) {
  set_codes("75");
  const Outcome outcome =
      run("launch/train.sh configs/x.toml --resume never --run-dir 'my runs' "
          "--set 'env.agents=[\"lights\"]'");
  EXPECT_EQ(outcome.exit_code, 75);
  const std::string mark = "to continue: ";
  const auto at = outcome.output.find(mark);
  ASSERT_NE(at, std::string::npos) << outcome.output;
  const std::string command = outcome.output.substr(at + mark.size());
  set_codes("0");
  ASSERT_EQ(run(command.substr(0, command.find('\n'))).exit_code, 0) << command;
  EXPECT_THAT(calls(),
              AllOf(HasSubstr("configs/x.toml --run-dir my runs --set env.agents=[\"lights\"] "),
                    HasSubstr(" --resume auto")));
  EXPECT_EQ(command.find("never"), std::string::npos) << command;
}

TEST_F(TrainScriptTest, ADetachedTrainingCanBeStoppedAndPruned) {
  write_program(
      dir_ / "launch/mpirun.sh",
      note("mpirun.sh") + "trap 'exit 75' USR1; touch started; while :; do sleep 0.1; done\n");
  const Outcome outcome = run("launch/train.sh --detach configs/x.toml");
  for (int i = 0; i < 300 && !fs::exists(dir_ / "started"); ++i) usleep(100'000);
  ASSERT_EQ(outcome.exit_code, 0);
  EXPECT_THAT(outcome.output, HasSubstr("launch/manage.sh stop runs/tried/"));
  const auto first = *fs::directory_iterator(dir_ / "runs/tried");
  std::ofstream(first.path() / "config.toml") << "";
  EXPECT_THAT(run("launch/manage.sh prune --keep 0 --yes").output,
              HasSubstr("kept, because it is active"));
  EXPECT_THAT(run("launch/manage.sh stop").output, HasSubstr("stopped"));
  EXPECT_FALSE(fs::exists(first.path() / "launch.pid"));
  EXPECT_THAT(run("launch/manage.sh prune --keep 0").output, HasSubstr("1 would be removed"));
  EXPECT_TRUE(fs::exists(first.path()));
  EXPECT_EQ(run("launch/manage.sh prune --keep 0 --yes").exit_code, 0);
  EXPECT_FALSE(fs::exists(first.path()));
}

TEST_F(LaunchTest, ComparisonScriptsNameTheProgramsToBuild) {
  give_gpus(0);
  for (const char* name : {"compare_phase1.py", "compare_phase2.py", "whole_programs.py"}) {
    fs::create_directories(dir_ / "tests/benchmarks");
    fs::copy(fs::path(TRAFFIC_SOURCE_DIR) / "tests/benchmarks" / name, dir_ / "tests/benchmarks");
  }
  for (const char* name : {"compare_phase1.py", "compare_phase2.py"}) {
    const Outcome outcome = run("tests/benchmarks/" + std::string(name));
    EXPECT_EQ(outcome.exit_code, 1);
    EXPECT_THAT(outcome.output, HasSubstr("run ./launch/build.sh release traffic_train"));
    EXPECT_THAT(outcome.output, Not(HasSubstr("Traceback")));
  }
  write_program(dir_ / "build/release/bin/traffic_train", "");
  EXPECT_THAT(run("tests/benchmarks/compare_phase1.py").output,
              HasSubstr("run ./launch/build.sh release synthetic_dataset"));
}

TEST_F(LaunchTest, ALostJobRestartsAndContinuesFromItsCheckpoint) {
  link("launch", "restart.sh");
  // The job is lost twice, the second time after a save, and then succeeds.
  write_program(dir_ / "job",
                note("job") + "cd " + dir_.string() +
                    "\ncase $(grep -c ^job calls) in\n1) kill -9 $$ ;;\n"
                    "2) mkdir -p r/checkpoints; touch r/checkpoints/step-1.h5; exit 7 ;;\n"
                    "esac\n");
  const std::string command = "launch/restart.sh 2 " + (dir_ / "job").string() + " --run-dir " +
                              (dir_ / "r").string() + " --resume old.h5 --seed 3";
  setenv("RESTART_PAUSE_S", "0.1", 1);
  const Outcome outcome = run(command);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.output;
  EXPECT_THAT(outcome.output, HasSubstr("exit code 137; restart 1 of 2 in 0.1 s"));
  EXPECT_THAT(outcome.output, HasSubstr("exit code 7; restart 2 of 2 in 0 s"));
  const std::string place = "--run-dir " + (dir_ / "r").string();
  EXPECT_EQ(calls(), "job " + place + " --resume old.h5 --seed 3\njob " + place +
                         " --resume old.h5 --seed 3\njob " + place + " --seed 3\n");
}

TEST_F(LaunchTest, RepeatableErrorsAndTooManyLossesEndTheRestarts) {
  link("launch", "restart.sh");
  setenv("RESTART_PAUSE_S", "0.1", 1);
  for (const int code : {0, 2, 3, 4, 5, 6, 8, 75, 130}) {
    write_program(dir_ / "job", note("job") + "exit " + std::to_string(code) + "\n");
    fs::remove(dir_ / "calls");
    EXPECT_EQ(run("launch/restart.sh 3 " + (dir_ / "job").string()).exit_code, code);
    EXPECT_EQ(calls(), "job \n") << code;
  }
  write_program(dir_ / "job", note("job") + "exit 7\n");
  fs::remove(dir_ / "calls");
  const Outcome outcome = run("launch/restart.sh 2 " + (dir_ / "job").string());
  EXPECT_EQ(outcome.exit_code, 7);
  EXPECT_THAT(outcome.output, HasSubstr("which is the limit"));
  EXPECT_EQ(calls(), "job \njob \njob \n");
  EXPECT_EQ(run("launch/restart.sh many x").exit_code, 2);
}

TEST_F(LaunchTest, ARequestToStopIsForwardedAndEndsTheRestarts) {
  link("launch", "restart.sh");
  write_program(dir_ / "job", note("job") + "trap 'exit 75' TERM\ntouch " + (dir_ / "up").string() +
                                  "\nwhile :; do sleep 0.1; done\n");
  BackgroundProgram restart((dir_ / "launch/restart.sh").string() + " 3 " +
                            (dir_ / "job").string());
  for (int i = 0; i < 200 && !fs::exists(dir_ / "up"); ++i) usleep(50'000);
  restart.send(SIGTERM);
  EXPECT_EQ(restart.wait(), 75);
  EXPECT_EQ(calls(), "job \n");
}

}  // namespace
}  // namespace traffic::test
