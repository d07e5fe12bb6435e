#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include "net_text.h"
#include "traffic/core/error.h"

namespace traffic::scene {
namespace {

using ::testing::HasSubstr;
using namespace testing;  // NOLINT: the helpers beside this file

std::string error_of(const std::filesystem::path& path) {
  try {
    read_road(path);
  } catch (const DataError& e) {
    return e.what();
  }
  return "no error";
}

TEST(NetReader, ReadsLanesLinksAndLanesInsideJunctions) {
  const Road road = read_road(merge_net());
  const Lane& ramp = road.lanes.at(static_cast<std::size_t>(lane(road, "ramp_0")));
  EXPECT_NEAR(ramp.length_m, 323.05, 0.01);
  EXPECT_DOUBLE_EQ(ramp.speed_limit_mps, 16.7);
  ASSERT_EQ(ramp.links.size(), 1U);
  EXPECT_EQ(ramp.links[0].to_lane, lane(road, "mrg_0"));
  EXPECT_EQ(ramp.links[0].via_lane, lane(road, ":b_0_0"));
  const Lane& inside = road.lanes.at(static_cast<std::size_t>(lane(road, ":b_0_0")));
  EXPECT_EQ(inside.exit_lane, lane(road, "mrg_0"));
  EXPECT_DOUBLE_EQ(inside.exit_m, 0.0);
  EXPECT_TRUE(road.edge_of(lane(road, ":b_0_0")).internal);
}

TEST(NetReader, MapsPositionsToTheShapeOfTheLane) {
  const Road road = read_road(merge_net());
  const int ramp = lane(road, "ramp_0");
  const Point start = road.point_at(ramp, 0);
  const Point end = road.point_at(ramp, 323.05);
  EXPECT_NEAR(start.x, 460.90, 0.01);
  EXPECT_NEAR(end.x, 773.72, 0.01);
  const Point middle = road.point_at(ramp, 323.05 / 2);
  EXPECT_NEAR(middle.x, (start.x + end.x) / 2, 0.01);
  EXPECT_NEAR(middle.y, (start.y + end.y) / 2, 0.01);
}

TEST(NetReader, ReadsGzip) {
  const auto path =
      std::filesystem::temp_directory_path() / (std::to_string(getpid()) + "_net.xml.gz");
  const std::string text = priority_merge().text();
  gzFile file = gzopen(path.c_str(), "wb");
  gzwrite(file, text.data(), static_cast<unsigned>(text.size()));
  gzclose(file);
  EXPECT_EQ(read_road(path).lanes.size(), 5U);
  std::filesystem::remove(path);
}

TEST(NetReader, LanesClosedToCarsAreNotDrivable) {
  NetText net;
  net.edge("a", 2, 0, 100);
  std::string text = net.text();
  text.replace(text.find("id='a_0'"), 8, "id='a_0' allow='pedestrian'");
  const TempFile file("walk.net.xml", text);
  const Road road = read_road(file.path());
  EXPECT_FALSE(road.lanes[0].drivable);
  EXPECT_TRUE(road.lanes[1].drivable);
}

TEST(NetReader, AcceptsLanesWithoutLengthOrSpeedAsSumoDoes) {
  const TempFile file("zero.net.xml",
                      "<net><edge id='a'><lane id='a_0' index='0' length='0.00' speed='0.00' "
                      "shape='0,0 0,0'/></edge></net>");
  const Road road = read_road(file.path());
  ASSERT_EQ(road.lanes.size(), 1U);
  EXPECT_EQ(road.lanes[0].length_m, 0);
  EXPECT_EQ(road.point_at(0, 0).x, 0);
}

TEST(NetReader, ALinkWithoutAnIndexHasNoLight) {
  NetText net;
  net.edge("rail", 1, 0, 100).edge("next", 1, 100, 100);
  net.link("rail", 0, "next", 0, "tl='x' linkIndex='-1' dir='s' state='M'");
  const auto read = net.road();
  const Road& road = *read;
  EXPECT_TRUE(road.lights.empty());
  ASSERT_EQ(road.lanes[0].links.size(), 1U);
  EXPECT_EQ(road.lanes[0].links[0].light, -1);
}

// Found by tests/fuzz: such networks crashed the reader or made it loop for ever.
TEST(NetReader, RefusesInvalidLanesInsideJunctions) {
  const auto lane = [](const std::string& id) {
    return "<lane id='" + id + "_0' index='0' length='9' speed='9' shape='0,0 9,0'/></edge>";
  };
  const std::string edges = "<edge id='a'>" + lane("a") + "<edge id='b'>" + lane("b") +
                            "<edge id='c'>" + lane("c") + "<edge id=':j' function='internal'>" +
                            lane(":j") + "<edge id=':k' function='internal'>" + lane(":k");
  const auto link = [](const std::string& from, const std::string& to, const std::string& via) {
    return "<connection from='" + from + "' to='" + to + "' fromLane='0' toLane='0' via='" + via +
           "' dir='s'/>";
  };
  const TempFile circle("circle.net.xml", "<net>" + edges + link("a", "b", ":j_0") +
                                              link(":j", "b", ":k_0") + link(":k", "b", ":j_0") +
                                              "</net>");
  EXPECT_THAT(error_of(circle.path()), HasSubstr("2 lanes inside junctions lead in a circle"));
  const TempFile through("through.net.xml", "<net>" + edges + link("a", "b", "c_0") + "</net>");
  EXPECT_THAT(error_of(through.path()), HasSubstr("through lane c_0, which is in no junction"));

  const std::filesystem::path found =
      TRAFFIC_SOURCE_DIR "/tests/fuzz/corpus/network/leaves_a_junction_elsewhere";
  EXPECT_THAT(error_of(found), HasSubstr("which is in no junction"));
}

TEST(NetReader, ReportsTheErrorsOfAFile) {
  EXPECT_THAT(error_of("/nowhere/a.net.xml"), HasSubstr("cannot be opened"));
  const TempFile cut("cut.net.xml", "<net><edge id='a'>");
  EXPECT_THAT(error_of(cut.path()), HasSubstr(cut.path().string()));
  const TempFile other("other.net.xml", "<routes/>");
  EXPECT_THAT(error_of(other.path()), HasSubstr("no <net> element"));
  const TempFile empty("empty.net.xml", "<net/>");
  EXPECT_THAT(error_of(empty.path()), HasSubstr("no lanes"));
  const TempFile lengthless("negative.net.xml",
                            "<net><edge id='a'><lane id='a_0' index='0' length='-1' speed='1' "
                            "shape='0,0 1,1'/></edge></net>");
  EXPECT_THAT(error_of(lengthless.path()), HasSubstr("lane a_0: length -1 m"));
}

}  // namespace
}  // namespace traffic::scene
