/// Runs data_prep as users do, on real simulations of the merge scenario.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <thread>

#include "traffic/core/clock.h"

extern char** environ;

namespace traffic {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

struct Result {
  int status = 0;  ///< status of the process from waitpid()
  std::string out;
  std::string err;
  [[nodiscard]] int code() const { return WIFEXITED(status) ? WEXITSTATUS(status) : -1; }
};

std::string read_text(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

class DataPrep : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "traffic-prep-XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    dir_ = pattern;
  }
  void TearDown() override { fs::remove_all(dir_); }

  /// Starts data_prep; stdout and stderr go to files.
  pid_t start(std::vector<std::string> args, const std::vector<std::string>& environment = {}) {
    args.insert(args.begin(), TRAFFIC_BIN_DIR "/data_prep");
    std::vector<char*> argv;
    for (auto& arg : args) argv.push_back(arg.data());
    argv.push_back(nullptr);
    std::vector<char*> env;
    for (char** e = environ; *e != nullptr; ++e) env.push_back(*e);
    for (const auto& e : environment) env.push_back(const_cast<char*>(e.c_str()));
    env.push_back(nullptr);
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    const std::string out = dir_ / "stdout";
    const std::string err = dir_ / "stderr";
    const int flags = O_WRONLY | O_CREAT | O_TRUNC;
    posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, out.c_str(), flags, 0600);
    posix_spawn_file_actions_addopen(&files, STDERR_FILENO, err.c_str(), flags, 0600);
    pid_t pid = -1;
    EXPECT_EQ(posix_spawn(&pid, argv[0], &files, nullptr, argv.data(), env.data()), 0);
    posix_spawn_file_actions_destroy(&files);
    return pid;
  }

  [[nodiscard]] Result wait(pid_t pid) const {
    Result result;
    waitpid(pid, &result.status, 0);
    result.out = read_text(dir_ / "stdout");
    result.err = read_text(dir_ / "stderr");
    return result;
  }

  Result run(const std::vector<std::string>& args, const std::vector<std::string>& env = {}) {
    return wait(start(args, env));
  }

  [[nodiscard]] std::vector<std::string> record_args(const std::string& episodes) const {
    return {"record",  "--scenario", "merge",  "--out", dir_ / "data", "--episodes", episodes,
            "--seeds", "50",         "--jobs", "2",     "--steps",     "120"};
  }

  [[nodiscard]] std::vector<std::string> files() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(dir_ / "data")) {
      names.push_back(entry.path().filename());
    }
    std::sort(names.begin(), names.end());
    return names;
  }

  [[nodiscard]] std::string all_files() const { return dir_ / "data" / "*.h5"; }

  /// Writes a changed copy of the merge scenario. @return its .sumocfg
  [[nodiscard]] std::string rewritten_merge(
      const std::string& folder,
      const std::vector<std::pair<std::string, std::string>>& changes) const {
    const fs::path merge = TRAFFIC_SOURCE_DIR "/configs/scenarios/merge";
    fs::create_directories(dir_ / folder);
    for (const char* name : {"merge.net.xml", "merge.rou.xml", "merge.sumocfg"}) {
      std::string text = read_text(merge / name);
      for (const auto& [from, to] : changes) {
        for (std::size_t at = text.find(from); at != std::string::npos;
             at = text.find(from, at + to.size())) {
          text.replace(at, from.size(), to);
        }
      }
      std::ofstream(dir_ / folder / name) << text;
    }
    return dir_ / folder / "merge.sumocfg";
  }

  fs::path dir_;
};

TEST_F(DataPrep, RecordingsAreValidAndDescribed) {
  auto args = record_args("6");
  args.insert(args.end(),
              {"--demand-scale", "0.8,1.2", "--control", "none,random,meter", "--json"});
  const Result recorded = run(args);
  ASSERT_EQ(recorded.code(), 0) << recorded.err;
  EXPECT_THAT(files(), testing::ElementsAre("merge-0000.h5", "merge-0001.h5"));
  const auto summary = nlohmann::json::parse(recorded.out);
  EXPECT_EQ(summary["steps"], 6 * 120);
  EXPECT_TRUE(summary["failed"].empty());

  const Result verified = run({"verify", all_files()});
  EXPECT_EQ(verified.code(), 0) << verified.out << verified.err;

  const Result inspected = run({"inspect", "--json", all_files()});
  ASSERT_EQ(inspected.code(), 0) << inspected.err;
  const auto described = nlohmann::json::parse(inspected.out);
  ASSERT_EQ(described.size(), 2U);
  EXPECT_EQ(described[0]["frames"], 3 * 120);
  EXPECT_EQ(described[0]["attributes"]["scenario"], "merge");
  EXPECT_THAT(described[0]["attributes"]["command_line"].get<std::string>(),
              HasSubstr("record --scenario merge"));
  EXPECT_THAT(described[0]["attributes"]["sumo_version"].get<std::string>(), HasSubstr("SUMO"));

  // The text must fit a screen, so long command lines are wrapped.
  std::istringstream lines(run({"inspect", all_files()}).out);
  std::string title;
  std::getline(lines, title);
  for (std::string line; std::getline(lines, line) && !line.starts_with("split ");) {
    EXPECT_LE(line.size(), 110U) << line;
  }

  const Result stats = run({"stats", "--json", all_files()});
  ASSERT_EQ(stats.code(), 0) << stats.err;
  const auto figures = nlohmann::json::parse(stats.out);
  EXPECT_EQ(figures["vehicles_per_frame"]["frames"], 6 * 120);
  EXPECT_GT(figures["vehicles_per_frame"]["mean"], 10);
  const double base_rate = figures["conflict"][2]["base rate"];
  EXPECT_GT(base_rate, 0.0);
  EXPECT_LT(base_rate, 0.5);
  const double one_second = figures["constant_speed"][0]["rmse m"];
  const double five_seconds = figures["constant_speed"][1]["rmse m"];
  // SUMO moves a vehicle by its new speed. Constant speed is therefore wrong by the change of speed
  // within the second, which acceleration and brakes limit.
  EXPECT_GT(one_second, 0.05);
  EXPECT_LT(one_second, 5.0);
  EXPECT_GT(five_seconds, 2 * one_second);
}

TEST_F(DataPrep, TheSameSeedsGiveTheSameData) {
  ASSERT_EQ(run(record_args("4")).code(), 0);
  const auto hash_of = [&] {
    const auto described = nlohmann::json::parse(run({"inspect", "--json", all_files()}).out);
    return described[0]["attributes"]["content_xxh3"].get<std::string>();
  };
  const auto first = hash_of();
  auto again = record_args("4");
  again.push_back("--force");
  ASSERT_EQ(run(again).code(), 0);
  EXPECT_EQ(hash_of(), first);
}

/// Controllers must decide at the same times after the begin of an episode, whatever the time of
/// day.
TEST_F(DataPrep, AnEpisodeFromEightIsRecordedLikeOneFromMidnight) {
  const auto recorded = [&](const std::string& scenario) {
    const Result result =
        run({"record", "--scenario", scenario, "--out", dir_ / "data", "--episodes", "1", "--force",
             "--steps", "200", "--control", "meter", "--split", "1,0,0"});
    EXPECT_EQ(result.code(), 0) << result.err;
    return run({"stats", "--json", all_files()}).out;
  };
  const std::string at_eight =
      rewritten_merge("late", {{"begin=\"0\"", "begin=\"28800\""},
                               {"end=\"900\"", "end=\"29700\""},
                               {"begin value=\"0\"", "begin value=\"28800\""},
                               {"end value=\"900\"", "end value=\"29700\""}});
  EXPECT_EQ(recorded(at_eight), recorded("merge"));
}

TEST_F(DataPrep, TheConnectedTypeIsGuessedOrMustBeSet) {
  const std::string theirs = rewritten_merge("theirs", {{"id=\"cv\"", "id=\"Bus\""}});
  auto args = record_args("1");
  args[2] = theirs;
  const Result refused = run(args);
  EXPECT_EQ(refused.code(), 2);
  EXPECT_THAT(refused.err, HasSubstr("no vehicle is of type 'cv'; types are hv 75 %, Bus 25 %"));
  EXPECT_FALSE(fs::exists(dir_ / "data"));
  args.insert(args.end(), {"--set", "env.cv_types=Bus", "--split", "1,0,0"});
  const Result said = run(args);
  ASSERT_EQ(said.code(), 0) << said.err;
  EXPECT_THAT(said.err, HasSubstr("25 % of them connected (Bus)"));
  args[2] = rewritten_merge("similar", {{"id=\"cv\"", "id=\"CV\""}});
  args.resize(args.size() - 4);
  args.push_back("--force");
  const Result found = run(args);
  ASSERT_EQ(found.code(), 0) << found.err;
  EXPECT_THAT(found.err, HasSubstr("env.cv_types = [\"CV\"]"));
  EXPECT_EQ(run({"record", "--out", dir_ / "other", "--set", "ppo.gamma=0.5"}).code(), 2);
}

TEST_F(DataPrep, VerifyNamesTheDamageAndEndsWithExitCode3) {
  ASSERT_EQ(run(record_args("2")).code(), 0);
  const fs::path file = dir_ / "data" / "merge-0000.h5";
  std::string bytes = read_text(file);
  bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 4);
  std::ofstream(file, std::ios::binary) << bytes;
  const Result flipped = run({"verify", all_files()});
  EXPECT_EQ(flipped.code(), 3);
  EXPECT_THAT(flipped.out, HasSubstr("checksum (fletcher32) does not match"));
  std::ofstream(file, std::ios::binary) << bytes.substr(0, bytes.size() / 3);
  const Result cut = run({"verify", all_files()});
  EXPECT_EQ(cut.code(), 3);
  EXPECT_THAT(cut.out, HasSubstr("is truncated"));
  EXPECT_THAT(cut.err, HasSubstr("data_prep: found 1 problem in "));
}

TEST_F(DataPrep, ASimulationThatCrashesIsTriedOnceMore) {
  // The process that records a file is killed at step 50, and so is the process that tries again.
  // The program must then give up the file and clean up.
  const Result result = run(record_args("2"), {"TRAFFIC_FAULT=record.step:0:50:kill"});
  EXPECT_EQ(result.code(), 6);
  EXPECT_THAT(result.err, HasSubstr("was killed by signal 9"));
  EXPECT_THAT(result.err, HasSubstr("the file is recorded once more"));
  EXPECT_THAT(result.err, HasSubstr("2 of 2 files could not be recorded"));
  EXPECT_THAT(files(), testing::IsEmpty());
}

TEST_F(DataPrep, ASimulationThatHangsIsReplacedAfterTheTimeout) {
  auto args = record_args("1");
  args.insert(args.end(), {"--timeout", "1"});
  const Result result = run(args, {"TRAFFIC_FAULT=record.step:0:50:hang"});
  EXPECT_EQ(result.code(), 6);
  EXPECT_THAT(result.err, HasSubstr("has sent no message for 1 s"));
  EXPECT_THAT(files(), testing::IsEmpty());
}

TEST_F(DataPrep, InterruptingLeavesNoHalfFiles) {
  auto args = record_args("400");
  const pid_t pid = start(args);
  const Stopwatch watch;
  while (watch.seconds() < 30 && !fs::exists(dir_ / "data")) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  std::this_thread::sleep_for(std::chrono::seconds(1));
  kill(pid, SIGINT);
  const Result result = wait(pid);
  EXPECT_EQ(result.code(), 75) << result.err;
  EXPECT_THAT(result.err, HasSubstr("stopped by request"));
  for (const auto& name : files()) {
    EXPECT_TRUE(name.ends_with(".h5") && !name.starts_with(".")) << name;
  }
}

TEST_F(DataPrep, OldDataAreKeptUnlessForced) {
  ASSERT_EQ(run(record_args("1")).code(), 0);
  const Result again = run(record_args("1"));
  EXPECT_EQ(again.code(), 2);
  EXPECT_THAT(again.err, HasSubstr("--force"));
}

TEST_F(DataPrep, ForceReplacesRecordingsAndNothingElse) {
  ASSERT_EQ(run(record_args("2")).code(), 0);
  auto fewer = record_args("1");
  fewer.push_back("--force");
  std::ofstream(dir_ / "data" / "notes.txt") << "mine";
  ASSERT_EQ(run(fewer).code(), 0);
  EXPECT_THAT(files(), testing::ElementsAre("merge-0000.h5", "notes.txt"));
  const fs::path foreign = dir_ / "data" / "years.h5";
  std::ofstream(foreign) << "what somebody has measured for years";
  const std::string recorded = read_text(dir_ / "data" / "merge-0000.h5");
  const Result refused = run(fewer);
  EXPECT_EQ(refused.code(), 2) << refused.err;
  EXPECT_THAT(refused.err, HasSubstr("years.h5 may not be replaced"));
  EXPECT_TRUE(fs::exists(foreign));
  EXPECT_EQ(read_text(dir_ / "data" / "merge-0000.h5"), recorded);
}

TEST_F(DataPrep, WrongUsageEndsWithExitCode2AndTheReason) {
  EXPECT_EQ(run({}).code(), 2);
  const Result unknown = run({"record", "--out", dir_ / "x", "--scenario", "nowhere"});
  EXPECT_EQ(unknown.code(), 3);
  EXPECT_THAT(unknown.err, HasSubstr("merge"));
  EXPECT_EQ(run({"record", "--out", dir_ / "x", "--compress", "12"}).code(), 2);
  const Result none = run({"verify", dir_ / "none-*.h5"});
  EXPECT_EQ(none.code(), 3);
  EXPECT_THAT(none.err, HasSubstr("no file matches"));
  EXPECT_EQ(run({"--help"}).code(), 0);
}

}  // namespace
}  // namespace traffic
