#include "traffic/scene/frame_builder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "traffic/core/random.h"
#include "traffic/scene/action.h"
#include "traffic_fixture.h"

namespace traffic::scene {
namespace {

using ::testing::ElementsAreArray;
using namespace testing;  // NOLINT: the helpers beside this file

float node(const GraphFrame& frame, std::size_t i, std::string_view name) {
  return frame.node_features[i * node_features().size() +
                             static_cast<std::size_t>(node_feature_index(name))];
}
float edge_value(const GraphFrame& frame, std::size_t e, std::size_t column) {
  return frame.edge_features[e * edge_features().size() + column];
}
std::vector<int> sources(const GraphFrame& frame, std::size_t i) {
  return {frame.edge_src.begin() + frame.edge_ptr[i],
          frame.edge_src.begin() + frame.edge_ptr[i + 1]};
}

TEST(FrameBuilder, NeighboursAreTheNearestEightWithinReach) {
  NetText net;
  net.edge("a", 3, 0, 400).edge("b", 3, 400, 400);
  for (int i = 0; i < 3; ++i) net.link("a", i, "b", i);
  Scene s(net.road());
  Rng rng(1);
  for (int i = 0; i < 120; ++i) {
    const bool second = rng.uniform() < 0.5;
    const std::string lane_id = (second ? "b_" : "a_") + std::to_string(rng.uniform_int(3));
    s.add({"a", "b"}, lane_id, rng.uniform(0, 400), rng.uniform(0, 20));
  }
  s.step();
  FrameBuilder builder;
  const GraphFrame& frame = builder.build(s.state());
  ASSERT_EQ(frame.num_nodes(), 120);
  ASSERT_EQ(frame.edge_ptr.size(), 121U);
  for (std::size_t i = 0; i < 120; ++i) {
    std::vector<std::pair<float, int>> all;  // all pairs, by brute force
    for (std::size_t j = 0; j < 120; ++j) {
      const float d = std::hypot(frame.xy_m[2 * i] - frame.xy_m[2 * j],
                                 frame.xy_m[2 * i + 1] - frame.xy_m[2 * j + 1]);
      if (j != i && d <= kNeighbourReachM) all.emplace_back(d, static_cast<int>(j));
    }
    std::sort(all.begin(), all.end());
    if (all.size() > 8) all.resize(8);
    std::vector<int> expected;
    for (const auto& [d, j] : all) expected.push_back(j);
    EXPECT_THAT(sources(frame, i), ElementsAreArray(expected)) << "vehicle " << i;
  }
}

TEST(FrameBuilder, EdgesHaveDistanceAndTimeToCollision) {
  Scene s(priority_merge().road());
  s.add({"main", "out"}, "main_0", 280, 20);
  s.add({"main", "out"}, "out_0", 5, 10);     // 25 m ahead on the same path
  s.add({"main", "out"}, "main_1", 270, 15);  // beside
  s.step();
  FrameBuilder builder;
  const GraphFrame& frame = builder.build(s.state());
  ASSERT_THAT(sources(frame, 0), ::testing::ElementsAre(2, 1));
  EXPECT_FLOAT_EQ(edge_value(frame, 0, 0), -10);
  EXPECT_FLOAT_EQ(edge_value(frame, 0, 1), -5);
  EXPECT_FLOAT_EQ(edge_value(frame, 0, 2), 10);  // no shared path: at the cap
  EXPECT_FLOAT_EQ(edge_value(frame, 0, 3), 10);
  EXPECT_FLOAT_EQ(edge_value(frame, 1, 0), 25);
  EXPECT_FLOAT_EQ(edge_value(frame, 1, 1), -10);
  EXPECT_FLOAT_EQ(edge_value(frame, 1, 2), 2);  // gap 20 m, closing at 10 m/s
  EXPECT_FLOAT_EQ(edge_value(frame, 1, 3), 1);  // gap 20 m at 20 m/s
}

TEST(FrameBuilder, ConflictingStreamsAreNeighboursAtTheStopLine) {
  Scene s(priority_merge().road());
  s.add({"main", "out"}, "main_0", 290, 20);
  s.add({"ramp", "out"}, "ramp_0", 280, 10);
  s.step();
  FrameBuilder builder;
  const GraphFrame& frame = builder.build(s.state());
  ASSERT_THAT(sources(frame, 0), ::testing::ElementsAre(1));
  EXPECT_FLOAT_EQ(edge_value(frame, 0, 0), -10);  // difference of the distances to the line
}

TEST(FrameBuilder, NodesDescribeTheConflictFromTheirApproach) {
  Scene s(priority_merge().road());
  s.add({"ramp", "out"}, "ramp_0", 260, 2, true);
  s.add({"main", "out"}, "main_0", 220, 10);
  s.add({"main", "out"}, "main_0", 200, 3);
  s.add({"main", "out"}, "out_0", 100, 6);
  s.add({"main", "out"}, "out_0", 390, 15);
  s.events().lights = {LightState{.state = "r", .cycle_position = 0.25, .change_s = {17.0}}};
  s.step();
  FrameBuilder builder;
  const GraphFrame& frame = builder.build(s.state());
  EXPECT_FLOAT_EQ(node(frame, 0, "line_distance_m"), 40);
  EXPECT_FLOAT_EQ(node(frame, 0, "on_minor"), 1);
  EXPECT_FLOAT_EQ(node(frame, 0, "first_cv"), 1);
  EXPECT_FLOAT_EQ(node(frame, 0, "own_queue"), 1);
  EXPECT_FLOAT_EQ(node(frame, 0, "conflicting_vehicles"), 2);
  EXPECT_FLOAT_EQ(node(frame, 0, "conflicting_queue"), 1);
  EXPECT_FLOAT_EQ(node(frame, 0, "zone_speed_mps"), 6);
  EXPECT_FLOAT_EQ(node(frame, 0, "signal_red"), 1);
  EXPECT_FLOAT_EQ(node(frame, 0, "signal_change_s"), 17);
  EXPECT_FLOAT_EQ(node(frame, 0, "conflicting_signal"), 0);
  EXPECT_FLOAT_EQ(node(frame, 1, "on_major"), 1);
  EXPECT_FLOAT_EQ(node(frame, 1, "signal_red"), 0);
  EXPECT_FLOAT_EQ(node(frame, 1, "conflicting_signal"), 1);
  EXPECT_FLOAT_EQ(node(frame, 1, "conflicting_green"), 0);
  EXPECT_FLOAT_EQ(node(frame, 1, "conflicting_change_s"), 17);
  EXPECT_FLOAT_EQ(node(frame, 1, "conflicting_cycle"), 0.25);
  EXPECT_FLOAT_EQ(node(frame, 3, "in_zone"), 1);
  EXPECT_FLOAT_EQ(node(frame, 3, "line_distance_m"), 400);  // none ahead: at the cap
  EXPECT_FLOAT_EQ(node(frame, 3, "conflicting_vehicles"), 3);
  EXPECT_FLOAT_EQ(node(frame, 4, "downstream"), 1);
}

TEST(FrameBuilder, HasTheShareOfOtherLanesUnderControl) {
  Scene s(priority_merge().road());
  s.add({"main", "out"}, "main_0", 250, 10, true);
  const auto held = s.add({"main", "out"}, "main_1", 250, 10, true);
  s.step();
  CommandBook book;
  book.add(
      std::vector{Command{.vehicle_id = held, .longitudinal = Longitudinal::kSlow, .hold_s = 20}},
      s.state());
  s.step();
  FrameBuilder builder;
  const GraphFrame& frame = builder.build(s.state());
  EXPECT_FLOAT_EQ(node(frame, 0, "others_held"), 1);
  EXPECT_FLOAT_EQ(node(frame, 1, "others_held"), 0);
  EXPECT_FLOAT_EQ(node(frame, 1, "commanded"), 1);
  EXPECT_FLOAT_EQ(node(frame, 1, "commit_left_s"), 19);
}

TEST(FrameBuilder, AnEmptyRoadGivesAnEmptyGraph) {
  Scene s(priority_merge().road());
  s.step();
  FrameBuilder builder;
  const GraphFrame& frame = builder.build(s.state());
  EXPECT_EQ(frame.num_nodes(), 0);
  EXPECT_EQ(frame.num_edges(), 0);
  ASSERT_EQ(frame.edge_ptr.size(), 1U);
  for (const float x : frame.global_features) EXPECT_TRUE(std::isfinite(x));
}

TEST(FrameBuilder, GlobalMetricsSumUpTheVehicles) {
  Scene s(priority_merge().road());
  s.add({"main", "out"}, "main_0", 250, 0, true);
  s.add({"main", "out"}, "main_1", 250, 12);
  s.step();
  FrameBuilder builder;
  const auto& g = builder.build(s.state()).global_features;
  const auto value = [&](std::string_view name) {
    const auto table = global_features();
    const auto it = std::find_if(table.begin(), table.end(),
                                 [&](const FeatureSpec& spec) { return spec.name == name; });
    return g[static_cast<std::size_t>(it - table.begin())];
  };
  EXPECT_FLOAT_EQ(value("mean_speed_mps"), 6);
  EXPECT_FLOAT_EQ(value("speed_deviation_mps"), 6);
  EXPECT_FLOAT_EQ(value("halted_share"), 0.5);
  EXPECT_FLOAT_EQ(value("vehicles"), 2);
  EXPECT_FLOAT_EQ(value("cvs"), 1);
  EXPECT_FLOAT_EQ(value("cv_speed_mps"), 0);
  EXPECT_FLOAT_EQ(value("time_share"), 0.01F);
}

}  // namespace
}  // namespace traffic::scene
