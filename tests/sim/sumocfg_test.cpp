#include "traffic/sim/sumocfg.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "sumo_files.h"

namespace traffic::sim {
namespace {

namespace fs = std::filesystem;
using testing::ScenarioFolder;
using ::testing::UnorderedElementsAreArray;

constexpr const char* kFlow =
    "<flow id='f' begin='0' end='100' period='5' from='up' to='down'/>"
    "<include href='more flows.rou.xml'/>";

class Sumocfg : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_.use_merge_network();
    folder_.write("more flows.rou.xml", "<routes/>");
    folder_.write("sign.add.xml",
                  "<additional><variableSpeedSign id='v' lanes='up_0' file='speeds.xml'/>"
                  "</additional>");
    folder_.write("speeds.xml", "<vss><step time='0' speed='20'/></vss>");
    folder_.write("of arguments.add.xml", "<additional/>");
    scenario_ = folder_.config(kFlow, 60,
                               "<additional-files value='sign.add.xml'/>"
                               "<tripinfo-output value='trips.xml'/>");
    folder_.write("trips.xml", "of another run");
  }
  ScenarioFolder folder_;
  std::string scenario_;
};

TEST_F(Sumocfg, NamesEveryFileThatSumoReads) {
  std::vector<fs::path> expected;
  for (const char* file : {"s.sumocfg", "net.net.xml", "s.rou.xml", "more flows.rou.xml",
                           "sign.add.xml", "speeds.xml"}) {
    expected.push_back(fs::canonical(folder_.path(file)));
  }
  EXPECT_THAT(scenario_files(scenario_, {}), UnorderedElementsAreArray(expected));
  expected.push_back(fs::canonical(folder_.path("of arguments.add.xml")));
  EXPECT_THAT(scenario_files(scenario_, {"+a", folder_.path("of arguments.add.xml")}),
              UnorderedElementsAreArray(expected));
}

TEST_F(Sumocfg, WritesAFileWithWhichSumoSimulatesTheSameEpisode) {
  const EnvOptions options{.scenario = scenario_, .seed = 7, .demand_factor = 0.5};
  const fs::path elsewhere = folder_.path() / "another folder";
  fs::create_directory(elsewhere);
  write_sumocfg(options, {{"end", "50"}}, elsewhere / "run.sumocfg");
  const std::string statistics = folder_.path("statistics.xml");
  const std::string command = "cd / && '" + fs::path(TRAFFIC_NETCONVERT).parent_path().string() +
                              "/sumo' -c '" + (elsewhere / "run.sumocfg").string() +
                              "' --statistic-output '" + statistics + "' >/dev/null";
  ASSERT_EQ(std::system(command.c_str()), 0);
  SumoEnv env({.scenario = scenario_, .seed = 7, .demand_factor = 0.5, .max_time_s = 50});
  while (!env.done()) env.step();
  std::ifstream in(statistics);
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  EXPECT_THAT(text,
              ::testing::HasSubstr(" inserted=\"" + std::to_string(env.score().departed) + "\""));
  std::ifstream trips(folder_.path("trips.xml"));
  const std::string kept{std::istreambuf_iterator<char>(trips), {}};
  EXPECT_EQ(kept, "of another run");
}

}  // namespace
}  // namespace traffic::sim
