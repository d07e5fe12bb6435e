#include "rollout/traffic/signal_codec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <vector>

#include "traffic/core/error.h"
#include "traffic/scene/signal_view.h"

namespace traffic::rollout {
namespace {

using ::testing::ElementsAreArray;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

struct Written {
  std::vector<double> lost_s{1.5, 0.0, 2.25};
  std::vector<SignalChoice> choices{{.light = 0, .num_greens = 2, .present = 1},
                                    {.light = 2, .num_greens = 3, .present = 0}};
  std::vector<float> rows = std::vector<float>(5 * scene::signal_features().size(), 0.5F);

  scene::SignalGraph graph = three_lights();

  /// The first light sees both others.
  static scene::SignalGraph three_lights() {
    scene::SignalGraph graph;
    graph.node_features.assign(3 * scene::num_signal_node_features(), 0.25F);
    graph.edge_ptr = {0, 2, 2, 2};
    graph.edge_src = {1, 2};
    graph.edge_features = {0.1F, 0.2F, 0.3F, 0.4F, 0.5F, 0.6F, 0.7F, 0.8F};
    return graph;
  }
  [[nodiscard]] std::vector<std::byte> bytes() const {
    SignalPeriod period{.time_s = 15,
                        .done = true,
                        .lost_s = lost_s,
                        .choices = choices,
                        .rows = rows,
                        .graph = graph.view(),
                        .score = {}};
    period.score.arrived = 7;
    std::vector<std::byte> room(std::size_t{1} << 16);
    room.resize(write_signal_period(period, room));
    return room;
  }
};

TEST(SignalCodec, ReturnsWhatWasWritten) {
  const Written written;
  const auto bytes = written.bytes();
  const SignalPeriod read = read_signal_period(bytes);
  EXPECT_EQ(read.time_s, 15.0);
  EXPECT_TRUE(read.done);
  EXPECT_EQ(read.score.arrived, 7);
  EXPECT_THAT(read.lost_s, ElementsAreArray(written.lost_s));
  EXPECT_THAT(read.rows, ElementsAreArray(written.rows));
  ASSERT_EQ(read.choices.size(), 2U);
  EXPECT_EQ(read.choices[1].light, 2);
  EXPECT_EQ(read.choices[1].num_greens, 3);
  EXPECT_EQ(read.graph.num_nodes(), 3);
  EXPECT_THAT(read.graph.node_features, ElementsAreArray(written.graph.node_features));
  EXPECT_THAT(read.graph.edge_ptr, ElementsAreArray(written.graph.edge_ptr));
  EXPECT_THAT(read.graph.edge_src, ElementsAreArray(written.graph.edge_src));
  EXPECT_THAT(read.graph.edge_features, ElementsAreArray(written.graph.edge_features));
}

TEST(SignalCodec, AGraphThatNobodyAskedForTakesNoRoom) {
  const Written with;
  Written without;
  without.graph = {};
  const auto bytes = without.bytes();
  EXPECT_EQ(read_signal_period(bytes).graph.num_nodes(), 0);
  EXPECT_GE(with.bytes().size(), bytes.size() + with.graph.node_features.size() * sizeof(float));
}

TEST(SignalCodec, BytesThatAreCutOffAnywhereAreRefused) {
  const auto bytes = Written().bytes();
  for (std::size_t size = 0; size < bytes.size(); size += 8) {
    EXPECT_THROW(read_signal_period(std::span(bytes).first(size)), WorkerError) << size;
  }
}

TEST(SignalCodec, RefusesWhatCannotBe) {
  const auto refusal = [](const std::function<void(Written&)>& spoil, const char* why) {
    Written written;
    spoil(written);
    const auto bytes = written.bytes();
    EXPECT_THAT([&] { read_signal_period(bytes); }, ThrowsMessage<WorkerError>(HasSubstr(why)));
  };
  refusal([](Written& w) { w.lost_s[0] = std::nan(""); }, "NaN");
  refusal([](Written& w) { w.rows[3] = INFINITY; }, "infinity");
  refusal([](Written& w) { w.choices[1].light = 3; }, "light 3 of 3");
  refusal([](Written& w) { w.choices[1].light = 0; }, "light 0 of 3");
  refusal([](Written& w) { w.choices[0].present = 2; }, "of which 2 is on");
  refusal([](Written& w) { w.choices[0].num_greens = 4; }, "has 5 rows");
  refusal([](Written& w) { w.graph.node_features[3] = INFINITY; }, "infinity");
  refusal([](Written& w) { w.graph.edge_features[1] = std::nanf(""); }, "NaN");
  refusal([](Written& w) { w.graph.edge_src[1] = 3; }, "node 3 of 3");
  refusal([](Written& w) { w.graph.edge_ptr[1] = 3; }, "does not lead from 0 to 2");
  refusal([](Written& w) { w.lost_s.push_back(0.0); }, "3 lights of 4");
}

TEST(SignalCodec, WhatDoesNotFitIsRefused) {
  std::vector<std::byte> room(256);
  const std::vector<double> lost_s(100);
  EXPECT_THROW(
      write_signal_period({.lost_s = lost_s, .choices = {}, .rows = {}, .score = {}}, room),
      WorkerError);
}

TEST(SignalCodec, CommandsAreWhole) {
  const std::vector<scene::SignalCommand> commands{{3, 1}, {4, 0}};
  const auto bytes = std::as_bytes(std::span(commands));
  const auto read = read_signal_commands(bytes);
  ASSERT_EQ(read.size(), 2U);
  EXPECT_EQ(read[0].light, 3);
  EXPECT_THROW(read_signal_commands(bytes.first(9)), WorkerError);
}

}  // namespace
}  // namespace traffic::rollout
