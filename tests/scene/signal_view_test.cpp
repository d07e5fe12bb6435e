#include "traffic/scene/signal_view.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "traffic/core/error.h"
#include "traffic/scene/controller.h"
#include "traffic/scene/joint_controller.h"
#include "traffic_fixture.h"

namespace traffic::scene {
namespace {

using testing::NetText;

/// Gives one vehicle the same command at every call.
class Insistent final : public Controller {
 public:
  void reset(std::uint64_t /*seed*/) override {}
  void decide(const RoadState& /*state*/, std::vector<Command>& commands) override {
    commands.emplace_back();
  }
  [[nodiscard]] std::string_view name() const override { return "insistent"; }
  [[nodiscard]] double period_s() const override { return 1.0; }
};

/// A light "t" at the end of two edges of 100 m that lead to `out`. Before one of these edges lies
/// a short one.
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

TEST(SignalView, DistinguishesStandingAndLeavingInsideAJunction) {
  const auto road = std::make_shared<Road>(read_road(testing::scenario_net("arterial")));
  const auto crosses = [](const Link& link) { return link.light >= 0 && link.via_lane >= 0; };
  const auto before = std::ranges::find_if(road->lanes, [&](const Lane& lane) {
    return !road->edges[static_cast<std::size_t>(lane.edge)].internal &&
           std::ranges::any_of(lane.links, crosses);
  });
  ASSERT_NE(before, road->lanes.end());
  const Link& link = *std::ranges::find_if(before->links, crosses);
  const auto& edge_of = [&](int lane) { return road->edge_of(lane).id; };
  const std::vector<std::string> route{road->edges[static_cast<std::size_t>(before->edge)].id,
                                       edge_of(link.to_lane)};
  const std::string& inner = road->lanes[static_cast<std::size_t>(link.via_lane)].id;
  testing::Scene scene(road);
  SignalView view(*road);
  const SignalBook book;
  const auto drives_through = scene.add(route, inner, 1, 8);
  const auto stands = scene.add(route, inner, 3, 0);
  const auto now = [&] {
    scene.step();
    view.update(scene.state(), book);
    return std::pair(view.light(link.light).inside, view.light(link.light).leaving);
  };
  EXPECT_EQ(now(), std::pair(1, 0));
  scene.move(stands, inner, 5, 2);
  EXPECT_EQ(now(), std::pair(0, 1));
  scene.move(drives_through, inner, 4, 0.5);
  EXPECT_EQ(now(), std::pair(1, 1));
  scene.move(stands, inner, 8, 5);
  EXPECT_EQ(now(), std::pair(1, 0)) << "a fast vehicle must not count as leaving";
  scene.move(stands, edge_of(link.to_lane) + "_0", 5, 8);
  EXPECT_EQ(now(), std::pair(1, 0));
}

TEST_F(SignalViewTest, AVehicleBelongsToTheNextLightAcrossEdges) {
  scene_.add({"far", "west", "out"}, "far_0", 10, 10);
  scene_.add({"west", "out"}, "west_0", 95, 0);
  step();
  const SignalLinkState& west = view_.light(0).links[0];
  EXPECT_EQ(west.vehicles, 2);
  EXPECT_EQ(west.queue, 1);
  EXPECT_EQ(west.near, 1);
  EXPECT_EQ(west.coming, 1);
  EXPECT_NEAR(west.loss, 0.5 + 1.0, 1e-9) << "lost time per second at a speed limit of 20 m/s";
  EXPECT_DOUBLE_EQ(west.wait_s, 1);
  EXPECT_NEAR(view_.light(0).lost_s, 1.5, 1e-9);
  EXPECT_EQ(view_.light(0).links[1].vehicles, 0);
}

TEST_F(SignalViewTest, VehiclesAfterTheLightCountAsQueueBehind) {
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

TEST_F(SignalViewTest, JoinedControllersDecideAtTheirOwnTimes) {
  const auto joint = [](std::unique_ptr<Controller> first, std::unique_ptr<Controller> second) {
    std::vector<std::unique_ptr<Controller>> parts;
    parts.push_back(std::move(first));
    parts.push_back(std::move(second));
    return join_controllers(std::move(parts));
  };
  const auto both = joint(make_controller("greedy(period_s=2)"), std::make_unique<Insistent>());
  EXPECT_TRUE(both->sets_signals());
  EXPECT_EQ(both->name(), "greedy+insistent");
  scene_.add({"south", "out"}, "south_0", 95, 0);
  step();
  std::vector<std::size_t> of_lights;
  std::vector<std::size_t> of_vehicles;
  for (int s = 0; s < 4; ++s) {
    step();
    std::vector<Command> commands;
    std::vector<SignalCommand> signal_commands;
    both->decide(scene_.state(), commands);
    both->decide_signals(view_, signal_commands);
    of_vehicles.push_back(commands.size());
    of_lights.push_back(signal_commands.size());
  }
  EXPECT_THAT(of_lights, ::testing::ElementsAre(1, 0, 1, 0));
  EXPECT_THAT(of_vehicles, ::testing::ElementsAre(1, 1, 1, 1));
  EXPECT_THROW(joint(make_controller("greedy"), make_controller("actuated")), ConfigError);
  EXPECT_THROW(joint(make_controller("meter"), make_controller("yield")), ConfigError);
}

TEST_F(SignalViewTest, ScriptsGiveGreenToWaitingVehicles) {
  scene_.add({"south", "out"}, "south_0", 95, 0);
  step();
  EXPECT_EQ(chosen_by("greedy"), -1) << "nothing may be chosen before the minimum green is over";
  step();
  EXPECT_EQ(chosen_by("greedy"), 1);
  EXPECT_EQ(chosen_by("max_pressure"), 1);
  EXPECT_EQ(chosen_by("actuated"), 1);
  scene_.add({"west", "out"}, "west_0", 95, 5);
  step();
  EXPECT_EQ(chosen_by("greedy"), 0) << "between greens of equal worth the present one must win";
  EXPECT_EQ(chosen_by("actuated"), 0)
      << "the green must go on, because a vehicle is about to reach the line";
}

/// Two lights in a row, after 300 m and after another 150 m.
TEST(SignalViewOfNeighbours, CountsVehiclesBetweenSuccessiveLights) {
  NetText net;
  net.edge("first", 1, 0, 300).edge("second", 1, 300, 150).edge("out", 1, 450, 300);
  net.link("first", 0, "second", 0, "dir='s' tl='a' linkIndex='0'");
  net.link("second", 0, "out", 0, "dir='s' tl='b' linkIndex='0'");
  net.junction("j", "first_0", {{"0", "0"}}).junction("k", "second_0", {{"0", "0"}});
  testing::Scene scene(net.road());
  SignalView view(scene.road());
  SignalBook book;
  const std::vector<SignalPhase> phases{{30, "G"}, {3, "y"}, {30, "r"}};
  book.reset({SignalPlan(phases), SignalPlan(phases)}, {});
  const auto look = [&](const char* a, const char* b) {
    scene.events().lights = {LightState{.state = a, .change_s = {}},
                             LightState{.state = b, .change_s = {}}};
    scene.step();
    book.observe(scene.state().time_s(), scene.state().lights());
    view.update(scene.state(), book);
  };
  scene.add({"first", "second", "out"}, "first_0", 50, 0);   // beyond reach
  scene.add({"first", "second", "out"}, "first_0", 290, 0);  // at the first line
  look("G", "r");
  EXPECT_EQ(view.light(0).links[0].arriving, 1);
  EXPECT_EQ(view.light(0).links[0].vehicles, 1);
  EXPECT_EQ(view.light(0).links[0].held_next, 1);
  EXPECT_EQ(view.light(1).links[0].arriving, 1);
  look("r", "G");
  EXPECT_EQ(view.light(0).links[0].held_next, 0);
  EXPECT_EQ(view.light(1).links[0].arriving, 0)
      << "a vehicle before a red light must not count as arriving";
}

}  // namespace
}  // namespace traffic::scene
