#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sumo_files.h"
#include "traffic/core/error.h"
#include "traffic/sim/sumo_env.h"

namespace traffic::sim {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using testing::ScenarioFolder;

constexpr const char* kCar =
    "<vType id='cv'/><route id='r' edges='up mrg down'/>"
    "<vehicle id='a' type='cv' route='r' depart='0'/>";

std::string load_error(const EnvOptions& options) {
  try {
    const SumoEnv env(options);
  } catch (const DataError& e) {
    return e.what();
  }
  return "no error";
}

TEST(SumoErrors, AMissingNetworkIsNamed) {
  const ScenarioFolder folder;
  EXPECT_THAT(load_error({.scenario = folder.config(kCar, 100)}),
              AllOf(HasSubstr("s.sumocfg"), HasSubstr("net.net.xml"), HasSubstr("not accessible")));
}

TEST(SumoErrors, ABrokenNetworkComesWithSumosMessage) {
  const ScenarioFolder folder;
  folder.write("net.net.xml", "<net version='1.20'><edge id='a'><lane");
  EXPECT_THAT(load_error({.scenario = folder.config(kCar, 100)}),
              AllOf(HasSubstr("net.net.xml"), HasSubstr("line/column")));
}

TEST(SumoErrors, AnUnknownOptionComesWithSumosMessage) {
  EXPECT_THAT(load_error({.scenario = "merge", .sumo_args = {"--no-such-option"}}),
              HasSubstr("no-such-option"));
}

TEST(SumoErrors, ArgumentsReachNoShell) {
  const ScenarioFolder folder;
  const auto touched = folder.path() / "touched";
  load_error({.scenario = "merge", .sumo_args = {"; touch " + touched.string()}});
  EXPECT_FALSE(std::filesystem::exists(touched));
}

TEST(SumoErrors, NothingIsPrintedToStdout) {
  ::testing::internal::CaptureStdout();
  {
    SumoEnv env({.scenario = "merge"});
    for (int i = 0; i < 20; ++i) env.step();
  }
  EXPECT_EQ(::testing::internal::GetCapturedStdout(), "");
}

TEST(SumoErrors, AfterAFailedLoadAnotherScenarioLoads) {
  EXPECT_THAT(load_error({.scenario = "merge", .sumo_args = {"--no-such-option"}}),
              HasSubstr("SUMO cannot load"));
  SumoEnv env({.scenario = "merge"});
  EXPECT_THROW(env.reset(1, {"--no-such-option"}), DataError);
  env.reset(1);
  for (int i = 0; i < 20; ++i) env.step();
  EXPECT_GT(env.state().vehicles().size(), 0U);
}

TEST(SumoErrors, AMesoscopicSimulationIsRefused) {
  EXPECT_THAT(load_error({.scenario = "merge", .sumo_args = {"--mesosim"}}),
              HasSubstr("its vehicles are on no lane"));
}

TEST(SumoErrors, AFailureInTheMiddleOfAnEpisodeIsADataError) {
  const ScenarioFolder folder;
  folder.use_merge_network();
  const std::string late = std::string(kCar) +
                           "<vehicle id='b' depart='300'><route edges='up mrg down'/></vehicle>"
                           "<vehicle id='c' depart='600'><route edges='up nowhere'/></vehicle>";
  SumoEnv env({.scenario = folder.config(late, 900)});
  try {
    while (!env.done()) env.step();
    FAIL() << "expected a DataError: vehicle c has an invalid route";
  } catch (const DataError& e) {
    EXPECT_THAT(e.what(), HasSubstr("nowhere"));
  }
}

}  // namespace
}  // namespace traffic::sim
