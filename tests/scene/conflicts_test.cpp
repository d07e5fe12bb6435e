#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "net_text.h"

namespace traffic::scene {
namespace {

using ::testing::ElementsAre;
using ::testing::UnorderedElementsAre;
using namespace testing;  // NOLINT: the helpers beside this file

const Approach& approach_on(const Road& road, const Conflict& conflict, const std::string& id) {
  for (const auto& a : conflict.approaches)
    if (a.edge == edge(road, id)) return a;
  ADD_FAILURE() << "no approach on " << id;
  return conflict.approaches.front();
}

TEST(Conflicts, AnAccelerationLaneIsOneConflictWithItsZone) {
  const Road road = read_road(merge_net());
  ASSERT_EQ(road.conflicts.size(), 1U);
  const Conflict& c = road.conflicts[0];
  ASSERT_EQ(c.approaches.size(), 2U);
  const auto& ramp = approach_on(road, c, "ramp");
  const auto& up = approach_on(road, c, "up");
  EXPECT_TRUE(ramp.minor);
  EXPECT_FALSE(ramp.major);
  EXPECT_TRUE(up.major);
  EXPECT_FALSE(up.minor);
  EXPECT_THAT(up.lanes, ElementsAre(lane(road, "up_0"), lane(road, "up_1")));
  EXPECT_EQ(up.conflicting.size(), 1U);
  ASSERT_EQ(c.zone.size(), 1U);
  EXPECT_EQ(c.zone[0].edge, edge(road, "mrg"));
  ASSERT_EQ(c.downstream.size(), 1U);
  EXPECT_EQ(c.downstream[0].edge, edge(road, "down"));
  EXPECT_NEAR(c.zone_lane_km, 3 * 0.16893, 1e-6);
}

/// Found by tests/fuzz: the reader read past the end of the approaches.
TEST(Conflicts, LinksConflictIfOnlyOneListsTheOtherAsFoe) {
  NetText net;
  net.edge("main", 1, 0, 300).edge("ramp", 1, 0, 300, -10).edge("out", 1, 300, 400);
  net.link("main", 0, "out", 0).link("ramp", 0, "out", 0, "dir='r'");
  net.junction("j", "main_0 ramp_0", {{"00", "00"}, {"01", "01"}});
  const auto road = net.road();
  ASSERT_EQ(road->conflicts.size(), 1U);
  const Conflict& c = road->conflicts[0];
  ASSERT_EQ(c.approaches.size(), 2U);
  EXPECT_TRUE(approach_on(*road, c, "main").major);
  EXPECT_TRUE(approach_on(*road, c, "ramp").minor);
  EXPECT_THAT(approach_on(*road, c, "ramp").conflicting, ElementsAre(0));
}

TEST(Conflicts, AtAPriorityJunctionTheRampGivesWay) {
  const auto road = priority_merge().road();
  ASSERT_EQ(road->conflicts.size(), 1U);
  const Conflict& c = road->conflicts[0];
  EXPECT_EQ(c.id, "j");
  const auto& main = approach_on(*road, c, "main");
  const auto& ramp = approach_on(*road, c, "ramp");
  EXPECT_TRUE(main.major);
  EXPECT_TRUE(ramp.minor);
  // The left lane of the main road has no foes, but it leads to the same edge.
  EXPECT_THAT(main.lanes, ElementsAre(lane(*road, "main_0"), lane(*road, "main_1")));
  EXPECT_EQ(ramp.light, 0);
  EXPECT_THAT(ramp.light_links, ElementsAre(0));
  EXPECT_EQ(main.light, -1);
  // The zone is 150 m long; the rest of the road is downstream.
  ASSERT_EQ(c.zone.size(), 1U);
  EXPECT_DOUBLE_EQ(c.zone[0].to_m, 150);
  ASSERT_EQ(c.downstream.size(), 1U);
  EXPECT_DOUBLE_EQ(c.downstream[0].from_m, 150);
  EXPECT_DOUBLE_EQ(c.downstream[0].to_m, 400);
}

TEST(Conflicts, ALaneThatEndsAloneIsALaneDrop) {
  const auto road = lane_drop().road();
  ASSERT_EQ(road->conflicts.size(), 1U);
  const Conflict& c = road->conflicts[0];
  ASSERT_EQ(c.approaches.size(), 2U);
  EXPECT_TRUE(c.approaches[0].minor);
  EXPECT_THAT(c.approaches[0].lanes, ElementsAre(lane(*road, "wide_0")));
  EXPECT_TRUE(c.approaches[1].major);
  EXPECT_THAT(c.approaches[1].lanes,
              UnorderedElementsAre(lane(*road, "wide_1"), lane(*road, "wide_2")));
}

TEST(Conflicts, StreamsThatLeaveOnOtherLanesWeave) {
  const auto road = NetText()
                        .edge("up", 2, 0, 300)
                        .edge("on", 1, 0, 300, -50)
                        .edge("weave", 3, 300, 250)
                        .edge("down", 2, 550, 300)
                        .edge("off", 1, 550, 300, -50)
                        .link("up", 0, "weave", 1)
                        .link("up", 1, "weave", 2)
                        .link("on", 0, "weave", 0)
                        .link("weave", 0, "off", 0)
                        .link("weave", 1, "down", 0)
                        .link("weave", 2, "down", 1)
                        .road();
  ASSERT_EQ(road->conflicts.size(), 1U);
  const Conflict& c = road->conflicts[0];
  EXPECT_EQ(c.id, "weave");
  EXPECT_TRUE(approach_on(*road, c, "up").major);
  EXPECT_TRUE(approach_on(*road, c, "on").minor);
  EXPECT_FALSE(approach_on(*road, c, "on").major);
  ASSERT_EQ(c.zone.size(), 1U);
  EXPECT_EQ(c.zone[0].edge, edge(*road, "weave"));
  EXPECT_EQ(c.downstream.size(), 2U);
}

TEST(Conflicts, StreamsThatLeaveAsTheyEnteredDoNotConflict) {
  const auto road = NetText()
                        .edge("up", 1, 0, 300)
                        .edge("on", 1, 0, 300, -50)
                        .edge("both", 2, 300, 250)
                        .edge("down", 2, 550, 300)
                        .link("up", 0, "both", 1)
                        .link("on", 0, "both", 0)
                        .link("both", 0, "down", 0)
                        .link("both", 1, "down", 1)
                        .road();
  EXPECT_TRUE(road->conflicts.empty());
}

TEST(Conflicts, ALongLaneIsNotAnAccelerationLane) {
  NetText net;
  net.edge("main", 2, 0, 300).edge("ramp", 1, 0, 300, -10).edge("long", 3, 300, 900, -3.2);
  net.edge("out", 2, 1200, 300);
  net.link("main", 0, "long", 1).link("main", 1, "long", 2).link("ramp", 0, "long", 0);
  net.link("long", 1, "out", 0).link("long", 2, "out", 1);
  const auto road = net.road();
  ASSERT_EQ(road->conflicts.size(), 1U);
  EXPECT_EQ(road->conflicts[0].id, "end of long");
}

TEST(Conflicts, StreamsThatOnlyTurnRoundDoNotConflict) {
  NetText net;
  net.edge("in", 1, 0, 100).edge("back", 1, 0, 100, 5);
  net.edge("far", 1, 100, 100).edge("return", 1, 100, 100, 5);
  net.link("in", 0, "far", 0).link("in", 0, "back", 0, "dir='t'").link("return", 0, "back", 0);
  net.junction("j", "in_0 return_0", {{"000", "000"}, {"100", "100"}, {"010", "000"}});
  EXPECT_TRUE(net.road()->conflicts.empty());
}

TEST(Conflicts, ALaneBesideOneThatOnlyTurnsRoundDoesNotEnd) {
  NetText net;
  net.edge("out", 2, 0, 100).edge("back", 2, 0, 100, 8);
  net.link("out", 1, "back", 1, "dir='t'");
  EXPECT_TRUE(net.road()->conflicts.empty());
}

TEST(Conflicts, LanesClosedToCarsDoNotEnd) {
  std::string text = lane_drop().text();
  text.replace(text.find("id='wide_0'"), 11, "id='wide_0' disallow='all'");
  const TempFile file("walk.net.xml", text);
  EXPECT_TRUE(read_road(file.path()).conflicts.empty());
}

}  // namespace
}  // namespace traffic::scene
