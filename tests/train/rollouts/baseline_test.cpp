#include "train/rollouts/baseline.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <string>

namespace traffic::train {
namespace {

namespace fs = std::filesystem;

class BaselineKey : public ::testing::Test {
 protected:
  void SetUp() override {
    dir_ = fs::temp_directory_path() / ("baseline_key_" + std::to_string(getpid()));
    fs::create_directories(dir_);
    write(
        "own.sumocfg",
        "<configuration><n value=\"" TRAFFIC_SOURCE_DIR
        "/configs/scenarios/merge/merge.net.xml\"/><r value=\"demand.rou.xml\"/></configuration>");
    write("demand.rou.xml", "<routes><include href=\"types.rou.xml\"/></routes>");
    write("types.rou.xml", "<routes><vType id=\"cv\"/></routes>");
    write("more.add.xml", "<additional/>");
    config_.env.scenario = (dir_ / "own.sumocfg").string();
    config_.env.sumo_args = {"-a", (dir_ / "more.add.xml").string()};
  }
  void TearDown() override { fs::remove_all(dir_); }

  void write(const std::string& name, const std::string& text) const {
    std::ofstream(dir_ / name) << text;
  }

  fs::path dir_;
  config::Config config_;
};

TEST_F(BaselineKey, DependsOnEveryFileThatSumoReads) {
  std::set<std::string> keys{baseline_key(config_)};
  EXPECT_EQ(baseline_key(config_), *keys.begin());
  write("types.rou.xml", "<routes><vType id=\"cv\" accel=\"1\"/></routes>");
  keys.insert(baseline_key(config_));
  write("demand.rou.xml", "<routes><!-- other --><include href=\"types.rou.xml\"/></routes>");
  keys.insert(baseline_key(config_));
  write("more.add.xml", "<additional><!-- other --></additional>");
  keys.insert(baseline_key(config_));
  EXPECT_EQ(keys.size(), 4U) << "the key must change if an included file changes, or the file "
                                "of an abbreviated option in the "
                                ".sumocfg, or a file in env.sumo_args";
}

}  // namespace
}  // namespace traffic::train
