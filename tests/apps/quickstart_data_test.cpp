/// Makes the recordings of launch/quickstart.sh, and runs commands that a user types after it.
#include <iterator>
#include <regex>

#include "support/run_folder_test.h"

namespace traffic::test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

/// Runs in a folder that looks like the repository after a build.
class QuickstartDataTest : public RunFolderTest {
 protected:
  void SetUp() override {
    RunFolderTest::SetUp();
    for (const char* name : {"configs", "launch", ".deps"}) {
      fs::create_symlink(fs::path(TRAFFIC_SOURCE_DIR) / name, dir_ / name);
    }
    fs::create_symlink(fs::path(TRAFFIC_BIN_DIR) / "traffic_train", dir_ / "traffic_train");
    fs::create_directories(dir_ / "data_prep");
    fs::create_symlink(fs::path(TRAFFIC_BIN_DIR) / "data_prep", dir_ / "data_prep/data_prep");
  }
  [[nodiscard]] Outcome run(const std::string& command) const {
    return run_program("env -C " + dir_.string() + " " + command);
  }

  /// Runs the third step of the quickstart, taken from the script, with few and short episodes.
  void record() const {
    std::ifstream in(TRAFFIC_SOURCE_DIR "/launch/quickstart.sh");
    const std::string script{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
    std::smatch data;
    ASSERT_TRUE(std::regex_search(script, data, std::regex("readonly (DATA=\\S+)")));
    const auto begin = script.find("if compgen");
    const auto end = script.find("say \"4/5");
    ASSERT_NE(end, std::string::npos);
    const std::string step =
        std::regex_replace(script.substr(begin, end - begin), std::regex("--episodes \\d+"),
                           "--episodes 5 --steps 100 --jobs 2");
    std::ofstream(dir_ / "record.sh") << "set -euo pipefail\n" << data[1] << "\n" << step;
    const Outcome recorded = run("bash record.sh");
    ASSERT_EQ(recorded.exit_code, 0) << recorded.output;
  }
};

TEST_F(QuickstartDataTest, TheShippedConfigurationsTrainOnTheRecordings) {
  record();
  for (const char* config : {"configs/phase1.toml", "configs/hybrid.toml"}) {
    const Outcome trained =
        run(std::string("launch/mpirun.sh -np 2 ./traffic_train ") + config +
            " --phase 1 --set train.max_steps=2 --set data.batch_size=4 --set run.device=cpu");
    EXPECT_EQ(trained.exit_code, 0) << config << "\n" << trained.output;
    EXPECT_THAT(trained.output, Not(HasSubstr("evaluation.seeds are recorded")))
        << "the recordings must share no seed with the evaluation";
  }
}

}  // namespace
}  // namespace traffic::test
