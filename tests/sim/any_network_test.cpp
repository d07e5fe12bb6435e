// Networks for which the program has no special code.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "sumo_files.h"
#include "traffic/scene/controller.h"
#include "traffic/sim/sumo_env.h"

namespace traffic::sim {
namespace {

using scene::Approach;
using testing::ScenarioFolder;

std::string flow(const std::string& id, const std::string& from, const std::string& to,
                 double probability) {
  return "<flow id='" + id + "' type='cv' begin='0' end='300' probability='" +
         std::to_string(probability) + "' from='" + from + "' to='" + to +
         "' departLane='free' departSpeed='avg'/>";
}

/// Four arms of 300 m with two lanes or one, and a traffic light in the middle.
void build_crossing(const ScenarioFolder& folder) {
  std::string edges;
  for (const std::string arm : {"n", "s", "e", "w"}) {
    const std::string lanes = arm == "n" || arm == "s" ? "2" : "1";
    edges += "<edge id='" + arm + "c' from='" + arm + "' to='c' numLanes='" + lanes + "'/>";
    edges += "<edge id='c" + arm + "' from='c' to='" + arm + "' numLanes='" + lanes + "'/>";
  }
  folder.build_network(
      "<node id='c' x='0' y='0' type='traffic_light'/><node id='n' x='0' y='300'/>"
      "<node id='s' x='0' y='-300'/><node id='e' x='300' y='0'/><node id='w' x='-300' y='0'/>",
      edges);
}

void expect_finite(const scene::GraphFrame& frame) {
  for (const float x : frame.node_features) ASSERT_TRUE(std::isfinite(x));
  for (const float x : frame.edge_features) ASSERT_TRUE(std::isfinite(x));
  for (const float x : frame.global_features) ASSERT_TRUE(std::isfinite(x));
}

TEST(AnyNetwork, ACrossingWithALightIsOneConflictOfFourApproaches) {
  const ScenarioFolder folder;
  build_crossing(folder);
  const auto scenario =
      folder.config("<vType id='cv'/>" + flow("ns", "nc", "cs", 0.2) + flow("sn", "sc", "cn", 0.2) +
                        flow("ew", "ec", "cw", 0.1) + flow("left", "nc", "ce", 0.05),
                    300);
  SumoEnv env({.scenario = scenario});
  const auto& road = env.road();
  ASSERT_EQ(road.conflicts.size(), 1U);
  EXPECT_EQ(road.conflicts[0].id, "c");
  ASSERT_EQ(road.conflicts[0].approaches.size(), 4U);
  for (const Approach& a : road.conflicts[0].approaches) {
    EXPECT_EQ(a.light, 0);
    EXPECT_EQ(a.conflicting.size(), 3U);
  }
}

TEST(AnyNetwork, VehiclesSeeTheirSignalTurn) {
  const ScenarioFolder folder;
  build_crossing(folder);
  // North and south have green first: a vehicle from the west has to wait.
  const auto scenario = folder.config(
      "<vType id='cv' sigma='0'/><vehicle id='a' type='cv' depart='1' departSpeed='13'><route "
      "edges='wc ce'/></vehicle>",
      200);
  SumoEnv env({.scenario = scenario});
  const auto value = [&](std::string_view name) {
    return env.frame().node_features[static_cast<std::size_t>(scene::node_feature_index(name))];
  };
  while (env.state().vehicles().empty()) env.step();
  ASSERT_EQ(value("signal_red"), 1);
  ASSERT_EQ(value("conflicting_green"), 1);
  const double foreseen = env.time_s() + value("signal_change_s");
  const double other_ends = env.time_s() + value("conflicting_change_s");
  EXPECT_NEAR(foreseen - other_ends, 3, 1e-3);  // the others first show yellow
  while (env.state().vehicles().front().conflict >= 0 && !env.done()) {
    if (value("signal_red") > 0) {
      EXPECT_NEAR(env.time_s() + value("signal_change_s"), foreseen, 1e-3);
    }
    env.step();
  }
  // The light switches at the start of the next step, and only then the standing vehicle starts.
  EXPECT_NEAR(env.time_s(), foreseen, 2.0);
}

TEST(AnyNetwork, RunsUnderControlWithFiniteFrames) {
  const ScenarioFolder folder;
  build_crossing(folder);
  const auto scenario =
      folder.config("<vType id='cv'/>" + flow("ns", "nc", "cs", 0.3) + flow("sn", "sc", "cn", 0.3) +
                        flow("ew", "ec", "cw", 0.15) + flow("we", "wc", "ce", 0.15) +
                        flow("left", "nc", "ce", 0.1) + flow("right", "sc", "ce", 0.1),
                    300);
  SumoEnv env({.scenario = scenario});
  const auto controller = scene::make_controller("random");
  controller->reset(1);
  std::vector<scene::Command> commands;
  for (int i = 0; !env.done(); ++i) {
    if (i % 3 == 0) {
      commands.clear();
      controller->decide(env.state(), commands);
      env.apply(commands);
    }
    env.step();
    if (i % 10 == 0) expect_finite(env.frame());
  }
  EXPECT_GT(env.score().arrived, 50);
  EXPECT_GT(env.score().cv_steps, 50);
  EXPECT_EQ(env.score().departed, env.score().arrived + env.score().running + env.score().removed);
}

TEST(AnyNetwork, ARampReleasedByALightGivesWayToTheMainRoad) {
  const ScenarioFolder folder;
  folder.build_network(
      "<node id='a' x='0' y='0'/><node id='m' x='500' y='0' type='priority'/>"
      "<node id='z' x='1200' y='0'/><node id='r' x='200' y='-150'/>"
      "<node id='l' x='400' y='-50' type='traffic_light'/>",
      "<edge id='main' from='a' to='m' numLanes='2' speed='22' priority='5'/>"
      "<edge id='out' from='m' to='z' numLanes='2' speed='22' priority='5'/>"
      "<edge id='ramp' from='r' to='l' numLanes='1' speed='15' priority='1'/>"
      "<edge id='join' from='l' to='m' numLanes='1' speed='15' priority='1'/>",
      "<connection from='join' to='out' fromLane='0' toLane='0'/>"
      "<connection from='main' to='out' fromLane='0' toLane='0'/>"
      "<connection from='main' to='out' fromLane='1' toLane='1'/>");
  const auto scenario = folder.config(
      "<vType id='cv'/>" + flow("main", "main", "out", 0.3) + flow("ramp", "ramp", "out", 0.1),
      300);
  SumoEnv env({.scenario = scenario});
  ASSERT_EQ(env.road().conflicts.size(), 1U);
  const auto& approaches = env.road().conflicts[0].approaches;
  ASSERT_EQ(approaches.size(), 2U);
  for (const Approach& a : approaches) {
    const bool is_main = env.road().edges[static_cast<std::size_t>(a.edge)].id == "main";
    EXPECT_EQ(a.major, is_main);
    EXPECT_EQ(a.minor, !is_main);
    EXPECT_EQ(a.lanes.size(), is_main ? 2U : 1U);
    EXPECT_EQ(a.light, is_main ? -1 : 0);  // the ramp's light stands 110 m before the merge
  }
  while (!env.done()) env.step();
  EXPECT_GT(env.state().conflict_numerators()[0], 20);
  expect_finite(env.frame());
}

TEST(AnyNetwork, CrashedVehiclesTakenOffTheRoadDoNotCountAsArrived) {
  const ScenarioFolder folder;
  folder.use_merge_network();
  // The rear vehicle ignores its leader's safe gap (tau of a tenth of a step) and drives blindly.
  const auto scenario = folder.config(
      "<vType id='cv' sigma='0' tau='0.1' minGap='0' decel='9' apparentDecel='0.2' "
      "actionStepLength='5'/>"
      "<route id='r' edges='up mrg down'/>"
      "<vehicle id='front' route='r' depart='0' departLane='0' departPos='60' departSpeed='20'>"
      "<stop lane='up_0' endPos='250' duration='60'/></vehicle>"
      "<vehicle id='rear' type='cv' route='r' depart='0' departLane='0' departPos='10' "
      "departSpeed='22'/>",
      200, "<collision.action value='remove'/>");
  SumoEnv env({.scenario = scenario});
  while (!env.done()) env.step();
  const auto& score = env.score();
  ASSERT_GT(score.collisions, 0);
  EXPECT_GT(score.removed, 0);
  EXPECT_EQ(score.departed, score.arrived + score.running + score.removed);
  EXPECT_LE(score.numerator(), static_cast<double>(score.departed - score.removed));
}

}  // namespace
}  // namespace traffic::sim
