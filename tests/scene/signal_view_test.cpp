#include "traffic/scene/signal_view.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "traffic/scene/controller.h"
#include "traffic_fixture.h"

namespace traffic::scene {
namespace {

using testing::NetText;

/// A light "t" at the end of two edges of 100 m that lead to `out`; before one of them a short
/// edge.
NetText crossing() {
  NetText net;
  net.edge("far", 1, 0, 60).edge("west", 1, 60, 100).edge("south", 1, 60, 100, -10);
  net.edge("out", 1, 160, 300);
  net.link("far", 0, "west", 0);
  net.link("west", 0, "out", 0, "dir='s' tl='t' linkIndex='0'");
  net.link("south", 0, "out", 0, "dir='r' tl='t' linkIndex='1'");
  net.junction("j", "west_0 south_0", {{"10", "00"}, {"01", "01"}});
  return net;
}

class SignalViewTest : public ::testing::Test {
 protected:
  SignalViewTest() : scene_(crossing().road()), view_(scene_.road()) {
    std::vector<SignalPlan> plans;
    plans.emplace_back(std::vector<SignalPhase>{{30, "Gr"}, {3, "yr"}, {30, "rG"}, {3, "ry"}});
    book_.reset(std::move(plans), {.min_green_s = 1});
  }
  void step() {
    scene_.events().lights = {LightState{.state = "Gr", .change_s = {}}};
    book_.advance();
    scene_.step();
    book_.observe(scene_.state().time_s(), scene_.state().lights());
    view_.update(scene_.state(), book_);
  }
  int chosen_by(const std::string& name) {
    std::vector<SignalCommand> commands;
    make_controller(name)->decide_signals(view_, commands);
    return commands.empty() ? -1 : commands.front().green;
  }

  testing::Scene scene_;
  SignalView view_;
  SignalBook book_;
};

TEST_F(SignalViewTest, AVehicleBelongsToTheLightAheadAlsoFromAnEdgeBefore) {
  scene_.add({"far", "west", "out"}, "far_0", 10, 10);
  scene_.add({"west", "out"}, "west_0", 95, 0);
  step();
  const SignalLinkState& west = view_.light(0).links[0];
  EXPECT_EQ(west.vehicles, 2);
  EXPECT_EQ(west.queue, 1);
  EXPECT_EQ(west.near, 1);
  EXPECT_EQ(west.coming, 1);
  EXPECT_NEAR(west.loss, 0.5 + 1.0, 1e-9) << "the limit is 20 m/s";
  EXPECT_DOUBLE_EQ(west.wait_s, 1);
  EXPECT_NEAR(view_.light(0).lost_s, 1.5, 1e-9);
  EXPECT_EQ(view_.light(0).links[1].vehicles, 0);
}

TEST_F(SignalViewTest, WhatHasPassedTheLightStandsBehindIt) {
  scene_.add({"west", "out"}, "out_0", 20, 0);
  step();
  EXPECT_EQ(view_.light(0).vehicles, 0);
  EXPECT_EQ(view_.light(0).links[0].queue_behind, 1);
  EXPECT_EQ(view_.light(0).links[1].queue_behind, 1);
  EXPECT_NEAR(view_.light(0).links[0].room_behind, 0.5, 1e-9);
}

TEST_F(SignalViewTest, EveryGreenHasARowOfFeatures) {
  scene_.add({"south", "out"}, "south_0", 95, 0);
  step();
  std::vector<float> rows;
  view_.append_features(0, rows);
  const std::size_t columns = signal_features().size();
  ASSERT_EQ(rows.size(), 2 * columns);
  const auto column = [&](std::string_view name) {
    const auto names = signal_features();
    return static_cast<std::size_t>(std::find(names.begin(), names.end(), name) - names.begin());
  };
  EXPECT_FLOAT_EQ(rows[column("vehicles")], 0.0F);
  EXPECT_FLOAT_EQ(rows[columns + column("vehicles")], 0.1F);
  EXPECT_FLOAT_EQ(rows[columns + column("gains")], 0.1F);
  EXPECT_FLOAT_EQ(rows[column("is_present")], 1.0F);
  EXPECT_FLOAT_EQ(rows[columns + column("is_present")], 0.0F);
}

TEST_F(SignalViewTest, ScriptsGiveGreenToWhoStands) {
  scene_.add({"south", "out"}, "south_0", 95, 0);
  step();
  EXPECT_EQ(chosen_by("greedy"), -1) << "the least green is not over";
  step();
  EXPECT_EQ(chosen_by("greedy"), 1);
  EXPECT_EQ(chosen_by("max_pressure"), 1);
  EXPECT_EQ(chosen_by("actuated"), 1);
  scene_.add({"west", "out"}, "west_0", 95, 5);
  step();
  EXPECT_EQ(chosen_by("greedy"), 0) << "no more than at the present green";
  EXPECT_EQ(chosen_by("actuated"), 0) << "one is coming";
}

}  // namespace
}  // namespace traffic::scene
