// A user's scenario may ask SUMO to write, print and listen. Runs of this program do none of this.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <clocale>
#include <cstdlib>
#include <iterator>
#include <set>

#include "sumo_files.h"
#include "traffic/core/error.h"
#include "traffic/sim/sumo_env.h"

namespace traffic::sim {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using testing::ScenarioFolder;

constexpr const char* kFlow =
    "<vType id='cv'><param key='device.ssm.file' value='ssm.xml'/>"
    "<param key='has.ssm.device' value='true'/></vType>"
    "<flow id='f' type='cv' begin='0' end='100' period='4' from='up' to='down'/>";

std::string content(const fs::path& file) {
  std::ifstream in(file);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::set<fs::path> files_in(const fs::path& folder) {
  std::set<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) files.insert(entry.path());
  return files;
}

void drive(SumoEnv& env, int steps) {
  for (int i = 0; i < steps; ++i) env.step();
}

class SideEffects : public ::testing::Test {
 protected:
  void SetUp() override { folder_.use_merge_network(); }
  ScenarioFolder folder_;
};

TEST_F(SideEffects, TheRealGdalIsNotLoaded) {
  SumoEnv env({.scenario = folder_.config(kFlow, 300)});
  drive(env, 10);
  const std::string own = fs::path(TRAFFIC_BIN_DIR).parent_path() / "lib";
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    if (line.find("/libgdal") == line.npos) continue;
    EXPECT_THAT(line, HasSubstr(own))
        << "the real GDAL is loaded instead of the empty library that "
           "cmake/FindLibsumo.cmake builds";
  }
}

TEST_F(SideEffects, OutputsOfTheUsersFilesAreNotOverwritten) {
  folder_.write(
      "det.add.xml",
      "<additional><inductionLoop id='d' lane='up_0' pos='50' period='20' file='det.xml'/>"
      "<laneAreaDetector id='e' lane='up_0' pos='10' endPos='90' period='20' "
      "file='sub/area.xml'/><edgeData id='m' file='edges.xml' period='20'/></additional>");
  const std::string scenario = folder_.config(
      kFlow, 300,
      "<additional-files value='det.add.xml'/><tripinfo-output value='trips.xml'/>"
      "<summary-output value='sub/summary.xml'/><statistic-output value='statistics.xml'/>"
      "<log value='log.txt'/><save-state.times value='50'/><device.rerouting.output value='w.xml'/>"
      "<device.ssm.probability value='1'/><device.ssm.file value='ssm.xml'/>");
  for (const char* file : {"det.xml", "edges.xml", "trips.xml", "log.txt"}) {
    folder_.write(file, "of another run");
  }
  const auto before = files_in(folder_.path());
  {
    SumoEnv env({.scenario = scenario});
    drive(env, 120);
    env.reset(2);
    drive(env, 20);
    EXPECT_GT(env.score().departed, 0);
  }
  EXPECT_EQ(files_in(folder_.path()), before);
  for (const char* file : {"det.xml", "edges.xml", "trips.xml", "log.txt"}) {
    EXPECT_EQ(content(folder_.path(file)), "of another run") << file;
  }
}

TEST_F(SideEffects, OutputsThatTheArgumentsNameAreWritten) {
  const std::string scenario =
      folder_.config(kFlow, 300, "<tripinfo-output value='trips.xml'/><precision value='7'/>");
  {
    SumoEnv env({.scenario = scenario,
                 .sumo_args = {"--fcd-output", folder_.path("fcd.xml"), "--log",
                               folder_.path("of run.txt")}});
    drive(env, 50);
    env.save(folder_.path("state.xml"));
  }
  EXPECT_THAT(content(folder_.path("fcd.xml")), HasSubstr("</fcd-export>"));
  EXPECT_THAT(content(folder_.path("state.xml")), HasSubstr("</snapshot>"));
  EXPECT_TRUE(fs::exists(folder_.path("of run.txt")));
  EXPECT_FALSE(fs::exists(folder_.path("trips.xml")));
}

TEST_F(SideEffects, NoTraciClientIsWaitedForAndNoPortIsOpened) {
  const int probe = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_ANY);
  socklen_t size = sizeof address;
  // The test holds the port, so that SUMO would fail to listen on it.
  ASSERT_EQ(bind(probe, reinterpret_cast<sockaddr*>(&address), size), 0);
  ASSERT_EQ(getsockname(probe, reinterpret_cast<sockaddr*>(&address), &size), 0);
  const std::string port = std::to_string(ntohs(address.sin_port));
  const std::string scenario = folder_.config(kFlow, 300,
                                              "<remote-port value='" + port +
                                                  "'/><num-clients value='1'/>"
                                                  "<fcd-output value='localhost:" +
                                                  port + "'/>");
  SumoEnv env({.scenario = scenario});
  drive(env, 20);
  EXPECT_GT(env.score().departed, 0);
  env.reset(2, {"--remote-port", port});
  drive(env, 20);
  EXPECT_GT(env.score().departed, 0);
  close(probe);
}

TEST_F(SideEffects, NothingThatSumoPrintsIsOnStdout) {
  const std::string scenario =
      folder_.config(kFlow, 60,
                     "<verbose value='true'/><duration-log.statistics value='true'/>"
                     "<no-step-log value='false'/><print-options value='true'/>"
                     "<summary-output value='stdout'/>");
  ::testing::internal::CaptureStdout();
  for (const auto& args : {std::vector<std::string>{}, {"--verbose"}}) {
    SumoEnv env({.scenario = scenario, .sumo_args = args});
    while (!env.done()) env.step();
  }
  EXPECT_EQ(::testing::internal::GetCapturedStdout(), "");
}

TEST_F(SideEffects, ArgumentsThatSetTheSeedOrOnlyWriteFilesAreRefused) {
  const std::string scenario = folder_.config(kFlow, 60);
  for (const std::string name : {"save-configuration", "save-template", "seed"}) {
    SCOPED_TRACE(name);
    const std::string value = name == "seed" ? "5" : folder_.path("written.xml");
    try {
      const SumoEnv env({.scenario = scenario, .sumo_args = {"--" + name, value}});
      ADD_FAILURE() << "expected a DataError: SumoEnv must not accept this argument";
    } catch (const DataError& error) {
      EXPECT_THAT(error.what(), HasSubstr("--" + name));
    }
  }
  EXPECT_FALSE(fs::exists(folder_.path("written.xml")));
}

/// Vehicles that want to enter in five minutes. The .sumocfg, the arguments and the demand factor
/// may each scale the demand.
std::int64_t demand(const ScenarioFolder& folder, const std::string& scale_of_file,
                    const std::vector<std::string>& args, double factor) {
  const std::string scenario = folder.config(
      "<flow id='f' begin='0' end='300' period='2' from='up' to='down' departLane='best'/>", 300,
      scale_of_file.empty() ? "" : "<scale value='" + scale_of_file + "'/>");
  SumoEnv env({.scenario = scenario, .sumo_args = args, .demand_factor = factor});
  while (!env.done()) env.step();
  return env.score().departed + env.score().waiting;
}

TEST_F(SideEffects, ADemandFactorMultipliesTheScaleOfTheScenario) {
  EXPECT_NEAR(static_cast<double>(demand(folder_, "", {}, 1.0)), 150, 1);
  EXPECT_NEAR(static_cast<double>(demand(folder_, "0.5", {}, 1.0)), 75, 1);
  EXPECT_NEAR(static_cast<double>(demand(folder_, "0.5", {}, 0.4)), 30, 1);
  EXPECT_NEAR(static_cast<double>(demand(folder_, "", {"--scale", "0.2"}, 2.0)), 60, 1);
  EXPECT_NEAR(static_cast<double>(demand(folder_, "0.5", {"--scale", "0.2"}, 2.0)), 60, 1);
}

TEST_F(SideEffects, ADemandFactorHoldsFromTheNextReset) {
  const std::string scenario =
      folder_.config("<flow id='f' begin='0' end='300' period='2' from='up' to='down'/>", 300);
  SumoEnv env({.scenario = scenario});
  const auto count = [&](double factor) {
    env.set_demand_factor(factor);
    env.reset(1);
    while (!env.done()) env.step();
    return static_cast<double>(env.score().departed + env.score().waiting);
  };
  EXPECT_NEAR(count(0.2), 30, 1);
  EXPECT_NEAR(count(1.0), 150, 1);
}

TEST_F(SideEffects, ASavedStateIsResumedAtItsTimeDespiteTheArgumentBegin) {
  const std::string scenario = folder_.config(kFlow, 300);
  SumoEnv env({.scenario = scenario, .sumo_args = {"--begin", "10"}});
  drive(env, 30);
  env.save(folder_.path("state.xml"));
  env.resume({.file = folder_.path("state.xml"), .time_s = 30}, 1);
  EXPECT_EQ(env.time_s(), 30.0);
  drive(env, 10);
  EXPECT_GT(env.score().departed, 0);
}

/// Exits with code 0 if a scenario runs in a folder whose name has letters beyond ASCII.
[[noreturn]] void drive_in_c_locale() {
  std::setlocale(LC_ALL, "C");
  const ScenarioFolder folder;
  folder.use_merge_network();
  const fs::path here = folder.path() / "Größe 北京";
  fs::create_directory(here);
  const std::string scenario = folder.config(kFlow, 60);
  for (const char* file : {"net.net.xml", "s.rou.xml", "s.sumocfg"}) {
    fs::copy_file(folder.path(file), here / file);
  }
  const std::string written = (here / "fcd é.xml").string();
  {
    SumoEnv env(
        {.scenario = (here / "s.sumocfg").string(), .sumo_args = {"--fcd-output", written}});
    while (!env.done()) env.step();
    if (env.score().departed == 0) std::exit(1);
  }
  std::exit(fs::exists(written) ? 0 : 2);
}

TEST(SideEffectsDeathTest, PathsMayHaveAllLettersInTheLocaleC) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");  // libsumo must not have been used before
  for (const char* name : {"LANG", "LC_ALL", "LC_CTYPE"}) unsetenv(name);
  EXPECT_EXIT(drive_in_c_locale(), ::testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace traffic::sim
