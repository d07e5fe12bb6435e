#include "train/run/folder_choice.h"

#include <array>
#include <set>
#include <string>
#include <thread>

#include "support/run_folder_test.h"
#include "traffic/core/error.h"

namespace traffic::train {
namespace {

/// Base of tests that run in their own working directory, in which runs/ is created.
class RunFolderChoice : public test::RunFolderTest {
 protected:
  void SetUp() override {
    RunFolderTest::SetUp();
    before_ = std::filesystem::current_path();
    std::filesystem::current_path(dir_);
    plan_.whole.run.name = "twice";
  }
  void TearDown() override {
    std::filesystem::current_path(before_);
    RunFolderTest::TearDown();
  }

  config::Plan plan_;
  std::filesystem::path before_;
};

TEST_F(RunFolderChoice, RunsThatBeginInTheSameSecondGetFoldersOfTheirOwn) {
  constexpr std::size_t kRuns = 12;
  std::array<std::filesystem::path, kRuns> dirs;
  std::vector<std::thread> runs;
  for (auto& dir : dirs) runs.emplace_back([&] { dir = choose_run_dir(plan_); });
  for (std::thread& run : runs) run.join();
  for (const auto& dir : dirs) {
    EXPECT_TRUE(std::filesystem::is_directory(dir)) << dir;
    EXPECT_EQ(dir.parent_path(), "runs/twice");
  }
  EXPECT_EQ(std::set(dirs.begin(), dirs.end()).size(), kRuns);
}

TEST_F(RunFolderChoice, SaysWhyNoFolderCanBeMade) {
  std::ofstream("runs").put('x');  // a file in place of the folder
  EXPECT_THROW(choose_run_dir(plan_), ResourceError);
}

}  // namespace
}  // namespace traffic::train
