#include "traffic/scene/signal_graph.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "traffic_fixture.h"

namespace traffic::scene {
namespace {

using ::testing::ElementsAre;
using ::testing::FloatEq;
using testing::NetText;

/// From light "a" a road of 400 m leads through a junction without a light to "b". Another road
/// leads to "c", which is too far away. The way back from "b" to "a" is 200 m long.
NetText three_lights() {
  NetText net;
  net.edge("to_a", 1, 0, 100).edge("near", 1, 100, 150).edge("on", 1, 250, 250);
  net.edge("far", 1, 100, 1500, -10).edge("back", 1, 500, 200, 10).edge("out", 1, 1600, 100);
  net.link("to_a", 0, "near", 0, "dir='s' tl='a' linkIndex='0'");
  net.link("to_a", 0, "far", 0, "dir='r' tl='a' linkIndex='1'");
  net.link("back", 0, "near", 0, "dir='l' tl='a' linkIndex='2'");
  net.link("near", 0, "on", 0);
  net.link("on", 0, "back", 0, "dir='t' tl='b' linkIndex='0'");
  net.link("far", 0, "out", 0, "dir='s' tl='c' linkIndex='0'");
  net.junction("ja", "to_a_0 back_0", {{"000", "000"}, {"000", "000"}, {"000", "000"}});
  net.junction("jb", "on_0", {{"0", "0"}}).junction("jc", "far_0", {{"0", "0"}});
  return net;
}

class SignalGraphTest : public ::testing::Test {
 protected:
  SignalGraphTest() : scene_(three_lights().road()), view_(scene_.road()), builder_(scene_.road()) {
    const auto plan = [](const std::string& first, const std::string& second) {
      const std::string yellow(first.size(), 'y');
      return SignalPlan(std::vector<SignalPhase>{{30, first}, {3, yellow}, {30, second}});
    };
    std::vector<SignalPlan> plans(3);
    plans[light("a")] = plan("Grr", "rrG");
    plans[light("b")] = plan("G", "r");  // one green: no choice
    plans[light("c")] = plan("G", "r");
    book_.reset(std::move(plans), {.min_green_s = 1});
  }
  [[nodiscard]] std::size_t light(const std::string& id) const {
    const auto& ids = scene_.road().lights;
    return static_cast<std::size_t>(std::find(ids.begin(), ids.end(), id) - ids.begin());
  }
  const SignalGraph& look() {
    scene_.events().lights.assign(3, LightState{.state = "G", .change_s = {}});
    scene_.events().lights[light("a")] = LightState{.state = "Grr", .change_s = {}};
    book_.advance();
    scene_.step();
    book_.observe(scene_.state().time_s(), scene_.state().lights());
    view_.update(scene_.state(), book_);
    builder_.build(view_, graph_);
    return graph_;
  }

  testing::Scene scene_;
  SignalView view_;
  SignalGraphBuilder builder_;
  SignalBook book_;
  SignalGraph graph_;
};

TEST_F(SignalGraphTest, SuccessiveLightsHaveEdgesInBothDirections) {
  const SignalGraph& graph = look();
  ASSERT_EQ(graph.view().num_nodes(), 3);
  const auto sources_of = [&](const std::string& id) {
    const std::int32_t* ptr = &graph.edge_ptr[light(id)];
    return std::vector<std::int32_t>(graph.edge_src.begin() + ptr[0],
                                     graph.edge_src.begin() + ptr[1]);
  };
  EXPECT_THAT(sources_of("a"), ElementsAre(light("b")));
  EXPECT_THAT(sources_of("b"), ElementsAre(light("a")));
  EXPECT_TRUE(sources_of("c").empty()) << "light c is too far away to be a neighbour";
}

TEST_F(SignalGraphTest, AnEdgeHasDistanceAndShareOfOpenLinks) {
  const SignalGraph& graph = look();
  const auto edge_into = [&](const std::string& id) {
    const float* row = &graph.edge_features[static_cast<std::size_t>(graph.edge_ptr[light(id)]) *
                                            signal_edge_features().size()];
    return std::vector<float>(row, row + 4);
  };
  // One of the two links from "a" to "b" is green. "b" has only one green, so it is not under
  // control and its share of open links counts as 0.
  EXPECT_THAT(edge_into("b"), ElementsAre(FloatEq(0.2F), 0.0F, 0.5F, 0.0F));
  EXPECT_THAT(edge_into("a"), ElementsAre(FloatEq(0.2F), 0.0F, 0.0F, 0.5F));
}

TEST_F(SignalGraphTest, ANodeHasTheMeanOfItsGreensAndThePresentGreen) {
  scene_.add({"to_a", "near"}, "to_a_0", 95, 0);
  const SignalGraph& graph = look();
  std::vector<float> rows;
  view_.append_features(static_cast<int>(light("a")), rows);
  const std::size_t columns = signal_features().size();
  ASSERT_EQ(rows.size(), 2 * columns);
  const float* node = &graph.node_features[light("a") * num_signal_node_features()];
  for (std::size_t i = 0; i < columns; ++i) {
    EXPECT_FLOAT_EQ(node[i], (rows[i] + rows[columns + i]) / 2) << signal_features()[i];
    EXPECT_FLOAT_EQ(node[columns + i], rows[i]) << signal_features()[i];
  }
}

}  // namespace
}  // namespace traffic::scene
