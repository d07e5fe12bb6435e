#include "traffic/scene/route_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "net_text.h"

namespace traffic::scene {
namespace {

using ::testing::ElementsAre;
using namespace testing;  // NOLINT: the helpers beside this file

class MergePlan : public ::testing::Test {
 protected:
  const RoutePlan& plan(const std::vector<std::string>& ids) {
    std::vector<int> edges;
    for (const auto& id : ids) edges.push_back(edge(road_, id));
    return plans_.of(edges);
  }
  Road road_ = read_road(merge_net());
  RoutePlans plans_{road_};
};

TEST_F(MergePlan, AddsUpEdgesAndJunctions) {
  const auto& p = plan({"ramp", "mrg", "down"});
  EXPECT_NEAR(p.length_m, 323.05 + 168.93 + 496.0, 1e-6);
  EXPECT_NEAR(p.start_m[1], 323.05 + 3.40, 1e-6);
  EXPECT_NEAR(p.end_m, p.length_m + 3.40 + 8.00, 1e-6);
}

TEST_F(MergePlan, KnowsTheStopLineAheadOfEveryEdge) {
  const auto& p = plan({"up", "mrg", "down"});
  EXPECT_EQ(p.ahead[0].conflict, 0);
  EXPECT_DOUBLE_EQ(p.ahead[0].to_line_m, 0);
  EXPECT_EQ(p.ahead[1].conflict, -1);
  EXPECT_EQ(p.ahead[2].conflict, -1);
  EXPECT_EQ(p.stop_lane[0], lane(road_, "up_0"));
  EXPECT_EQ(p.stop_lane[1], lane(road_, "up_1"));
}

TEST_F(MergePlan, KnowsWhereALaneStopsServingTheRoute) {
  const auto& ramp = plan({"ramp", "mrg", "down"});
  EXPECT_NEAR(ramp.continuation_m[0], 323.05 + 3.40 + 168.93, 1e-6);  // the ramp's lane ends at c
  const auto& main = plan({"up", "mrg", "down"});
  EXPECT_DOUBLE_EQ(main.continuation_m[0], kFarAheadM);
}

TEST_F(MergePlan, IsBuiltOncePerRoute) {
  EXPECT_EQ(&plan({"up", "mrg", "down"}), &plan({"up", "mrg", "down"}));
  EXPECT_NE(&plan({"up", "mrg", "down"}), &plan({"ramp", "mrg", "down"}));
}

TEST(RoutePlan, FindsTheNextStopLineAcrossEdges) {
  NetText net = priority_merge();
  net.edge("before", 1, -200, 200).link("before", 0, "main", 1);
  const auto road = net.road();
  RoutePlans plans(*road);
  const std::vector<int> edges = {edge(*road, "before"), edge(*road, "main"), edge(*road, "out")};
  const auto& p = plans.of(edges);
  EXPECT_EQ(p.ahead[0].conflict, 0);
  EXPECT_DOUBLE_EQ(p.ahead[0].to_line_m, 300);
  EXPECT_EQ(p.stop_lane[0], lane(*road, "main_1"));
}

TEST(RoutePlan, KnowsNumberAndDirectionOfLaneChanges) {
  const auto road = weaving_section().road();
  RoutePlans plans(*road);
  const auto changes = [&](const std::vector<std::string>& ids) {
    std::vector<int> edges;
    for (const auto& id : ids) edges.push_back(edge(*road, id));
    return plans.of(edges).lane_changes;
  };
  EXPECT_THAT(changes({"up", "weave", "off"}), ElementsAre(-1, -2, 0, -1, -2, 0));
  EXPECT_THAT(changes({"up", "weave", "down"}), ElementsAre(0, 0, 1, 0, 0, 0, 0));
  EXPECT_THAT(changes({"on", "weave", "down"}), ElementsAre(1, 1, 0, 0, 0, 0));
  EXPECT_THAT(changes({"on", "weave", "off"}), ElementsAre(0, 0, -1, -2, 0));
}

TEST(RoutePlan, SearchesEdgesFromAGivenPosition) {
  NetText net;
  net.edge("a", 1, 0, 100).edge("b", 1, 100, 100).link("a", 0, "b", 0).link("b", 0, "a", 0);
  const auto road = net.road();
  RoutePlans plans(*road);
  const int a = edge(*road, "a");
  const int b = edge(*road, "b");
  const auto& p = plans.of(std::vector<int>{a, b, a});
  EXPECT_EQ(p.find(a, 0), 0);
  EXPECT_EQ(p.find(a, 1), 2);
  EXPECT_EQ(p.find(b, 2), -1);
}

}  // namespace
}  // namespace traffic::scene
