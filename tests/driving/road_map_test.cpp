/// The road map of a network, and the checks of maps and scenes.
#include "traffic/driving/road_map.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "scene/net_text.h"
#include "traffic/core/error.h"
#include "traffic/driving/scene_check.h"

namespace traffic::driving {
namespace {

using ::testing::HasSubstr;

std::int32_t index_of(const std::vector<std::string>& names, const std::string& name) {
  const auto found = std::find(names.begin(), names.end(), name);
  EXPECT_NE(found, names.end()) << name;
  return static_cast<std::int32_t>(found - names.begin());
}

TEST(RoadMap, HasLanesLinksAndConnectorsOfANetwork) {
  const RoadMap map = read_road_map(scene::testing::merge_net());
  EXPECT_EQ(map.name, "merge");
  EXPECT_NO_THROW(check_map(map));
  const auto ramp = index_of(map.lanes, "ramp_0");
  const auto connector = index_of(map.lanes, ":b_0_0");
  const auto behind = index_of(map.lanes, "mrg_0");
  EXPECT_EQ(map.kind[static_cast<std::size_t>(ramp)], LaneKind::kRoad);
  EXPECT_EQ(map.kind[static_cast<std::size_t>(connector)], LaneKind::kConnector);
  EXPECT_EQ(map.edges[static_cast<std::size_t>(map.edge[static_cast<std::size_t>(ramp)])], "ramp");
  EXPECT_FLOAT_EQ(map.width_m[static_cast<std::size_t>(ramp)], 3.2F);
  EXPECT_FLOAT_EQ(map.speed_limit_mps[static_cast<std::size_t>(ramp)], 16.7F);
  const auto line = map.line(static_cast<std::size_t>(ramp));
  EXPECT_NEAR(line.front().x_m, 460.90F, 0.01F);
  EXPECT_NEAR(line.back().x_m, 773.72F, 0.01F);
  const auto link = std::find_if(map.links.begin(), map.links.end(),
                                 [&](const Link& l) { return l.from_lane == ramp; });
  ASSERT_NE(link, map.links.end());
  EXPECT_EQ(link->to_lane, behind);
  EXPECT_EQ(link->connector, connector);
  EXPECT_EQ(link->signal, -1);
}

TEST(RoadMap, LinksOfALightShareItsSignalHeads) {
  const RoadMap map = read_road_map(scene::testing::scenario_net("lights_grid"));
  EXPECT_NO_THROW(check_map(map));
  ASSERT_FALSE(map.signals.empty());
  std::vector<std::pair<std::string, std::int32_t>> heads;
  for (const SignalHead& head : map.signals) heads.emplace_back(head.light, head.index);
  std::sort(heads.begin(), heads.end());
  EXPECT_EQ(std::adjacent_find(heads.begin(), heads.end()), heads.end());
  std::size_t controlled = 0;
  for (const Link& link : map.links) {
    if (map.kind[static_cast<std::size_t>(link.from_lane)] == LaneKind::kRoad) {
      EXPECT_GE(link.connector, 0);
      controlled += link.signal >= 0 ? 1 : 0;
    }
  }
  EXPECT_GE(controlled, map.signals.size());
}

TEST(RoadMap, LeavesOutLanesThatAreClosedToCars) {
  scene::testing::NetText net;
  net.edge("a", 2, 0, 100).edge("path", 1, 0, 50).link("a", 0, "path", 0);
  std::string text = net.text();
  text.replace(text.find("id='a_0'"), 8, "id='a_0' allow='pedestrian'");
  text.replace(text.find("id='path_0'"), 11, "id='path_0' allow='bicycle'");
  const scene::testing::TempFile file("walk.net.xml", text);
  const RoadMap map = read_road_map(file.path());
  EXPECT_THAT(map.lanes, ::testing::ElementsAre("a_1"));
  EXPECT_THAT(map.edges, ::testing::ElementsAre("a"));
  EXPECT_TRUE(map.links.empty());
}

TEST(RoadMap, ANetworkWithoutLanesForCarsIsAnError) {
  scene::testing::NetText net;
  std::string text = net.edge("a", 1, 0, 100).text();
  text.replace(text.find("id='a_0'"), 8, "id='a_0' allow='pedestrian'");
  const scene::testing::TempFile file("walk.net.xml", text);
  try {
    (void)read_road_map(file.path());
    FAIL() << "expected a DataError: no lane is open to cars";
  } catch (const DataError& error) {
    EXPECT_THAT(error.what(), HasSubstr("none of its lanes is open to passenger cars"));
  }
}

TEST(RoadMap, IsNamedAfterItsFile) {
  EXPECT_EQ(map_name("/a/my.town.net.xml.gz"), "my.town");
  EXPECT_EQ(map_name("town.net.xml"), "town");
  EXPECT_EQ(map_name("town"), "town");
}

TEST(SceneCheck, NamesWhatIsWrongWithAMap) {
  const RoadMap good = read_road_map(scene::testing::merge_net());
  const auto message = [](const RoadMap& map) -> std::string {
    try {
      check_map(map);
    } catch (const DataError& error) {
      return error.what();
    }
    return "no error";
  };
  RoadMap map = good;
  map.links[0].to_lane = 9999;
  EXPECT_THAT(message(map), HasSubstr("link 0 leads from lane"));
  map = good;
  map.points[3].x_m = std::numeric_limits<float>::quiet_NaN();
  EXPECT_THAT(message(map), HasSubstr("has a point at (nan"));
  map = good;
  map.width_m[0] = 0.0F;
  EXPECT_THAT(message(map), HasSubstr("has a width of 0 m"));
  map = good;
  map.edge[1] = -1;
  EXPECT_THAT(message(map), HasSubstr("is on edge -1"));
  map = good;
  map.lane_begin[1] = 1;
  EXPECT_THAT(message(map), HasSubstr("has fewer than 2 points"));
  map = good;
  map.signals.push_back({.light = "t", .index = -2});
  EXPECT_THAT(message(map), HasSubstr("is at position -2 of light 't'"));
}

}  // namespace
}  // namespace traffic::driving
