#include "rollout/traffic/period_codec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <functional>
#include <limits>

#include "rollout/traffic/period_fixture.h"
#include "traffic/core/error.h"
#include "traffic/core/random.h"

namespace traffic::rollout {
namespace {

using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using ::testing::HasSubstr;
using testing::PeriodFixture;
using ::testing::ThrowsMessage;

/// Reads any bytes. @return false if reading ended with a WorkerError; any other error is a failure
bool readable(std::span<const std::byte> bytes) {
  Period period;
  try {
    read_period(bytes, period);
    return true;
  } catch (const WorkerError&) {
    return false;
  }
}

TEST(PeriodCodec, ReadsTheSamePeriodThatWasWritten) {
  const PeriodFixture fixture;
  const auto bytes = fixture.bytes();
  Period read;
  read_period(bytes, read);

  EXPECT_EQ(read.time_s, 3.0);
  EXPECT_TRUE(read.truncated);
  EXPECT_FALSE(read.terminated);
  EXPECT_EQ(read.num_conflicts, 2);
  EXPECT_EQ(read.score.arrived, 7);
  EXPECT_EQ(read.score.completion_sum, 1.75);
  EXPECT_THAT(read.growth, ElementsAreArray(fixture.growth));
  EXPECT_THAT(read.conflict_growth, ElementsAreArray(fixture.conflict_growth));
  ASSERT_EQ(read.of<VehicleSection>().candidates.size(), 2U);
  EXPECT_EQ(read.of<VehicleSection>().candidates[1].node, 3);
  EXPECT_EQ(read.of<VehicleSection>().candidates[1].conflict, 1);
  ASSERT_EQ(read.of<VehicleSection>().controlled.size(), 1U);
  EXPECT_EQ(read.of<VehicleSection>().controlled[0].unsafe_steps, 2);
  ASSERT_EQ(read.of<VehicleSection>().scripted.size(), 1U);
  EXPECT_EQ(read.of<VehicleSection>().scripted[0].longitudinal, scene::Longitudinal::kStop);
  ASSERT_EQ(read.of<VehicleSection>().advice.size(), 1U);
  EXPECT_EQ(read.of<VehicleSection>().advice[0].vehicle_id, 16U);
  EXPECT_EQ(read.of<VehicleSection>().advice[0].longitudinal, scene::Longitudinal::kFast);

  ASSERT_EQ(read.of<VehicleSection>().frames.size(), fixture.frames.size());
  for (std::size_t f = 0; f < read.of<VehicleSection>().frames.size(); ++f) {
    const scene::FrameView& got = read.of<VehicleSection>().frames[f];
    const scene::GraphFrame& put = fixture.frames[f];
    EXPECT_EQ(got.time_s, put.time_s);
    EXPECT_THAT(got.vehicle_id, ElementsAreArray(put.vehicle_id));
    EXPECT_THAT(got.xy_m, ElementsAreArray(put.xy_m));
    EXPECT_THAT(got.node_features, ElementsAreArray(put.node_features));
    EXPECT_THAT(got.edge_ptr, ElementsAreArray(put.edge_ptr));
    EXPECT_THAT(got.edge_src, ElementsAreArray(put.edge_src));
    EXPECT_THAT(got.edge_features, ElementsAreArray(put.edge_features));
    EXPECT_THAT(got.global_features, ElementsAreArray(put.global_features));
  }
}

TEST(PeriodCodec, RefusesEveryTruncation) {
  const auto bytes = PeriodFixture().bytes();
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    const std::vector<std::byte> cut(bytes.begin(),
                                     bytes.begin() + static_cast<std::ptrdiff_t>(size));
    EXPECT_FALSE(readable(cut)) << size << " of " << bytes.size();
  }
}

TEST(PeriodCodec, RefusesBytesAfterTheEnd) {
  auto bytes = PeriodFixture().bytes();
  bytes.resize(bytes.size() + 8);
  EXPECT_FALSE(readable(bytes));
}

TEST(PeriodCodec, SurvivesRandomBytes) {
  Rng rng(7);
  for (int round = 0; round < 2000; ++round) {
    std::vector<std::byte> bytes(rng.uniform_int(4096));
    for (auto& byte : bytes) byte = static_cast<std::byte>(rng.next_u64());
    EXPECT_FALSE(readable(bytes));
  }
}

TEST(PeriodCodec, SurvivesSpoiledWords) {
  const auto good = PeriodFixture().bytes();
  Rng rng(11);
  constexpr std::uint32_t kWords[] = {0, 1, 0x7fffffff, 0x80000000, 0xffffffff, 0x7fc00000};
  for (std::size_t offset = 0; offset + 4 <= good.size(); offset += 4) {
    for (const std::uint32_t word : kWords) {
      auto bytes = good;
      std::memcpy(bytes.data() + offset, &word, 4);
      Period period;
      try {
        read_period(bytes, period);
      } catch (const WorkerError&) {
        continue;
      }
      // An accepted period may have wrong numbers, but its views must lie within the bytes
      // (AddressSanitizer checks this), and its edges must begin at vehicles of the frame.
      for (const scene::FrameView& frame : period.of<VehicleSection>().frames) {
        for (const std::int32_t source : frame.edge_src) {
          ASSERT_GE(source, 0);
          ASSERT_LT(source, frame.num_nodes());
        }
      }
    }
  }
}

TEST(PeriodCodec, RefusesNumbersThatAreNotFinite) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const double infinity = std::numeric_limits<double>::infinity();
  PeriodFixture node;
  node.frames[1].node_features[5] = nan;
  EXPECT_THAT(
      [&] {
        Period p;
        read_period(node.bytes(), p);
      },
      ThrowsMessage<WorkerError>(HasSubstr("node_features")));
  PeriodFixture edge;
  edge.frames[2].edge_features[0] = -std::numeric_limits<float>::infinity();
  EXPECT_FALSE(readable(edge.bytes()));
  PeriodFixture global;
  global.frames[0].global_features[15] = nan;
  EXPECT_FALSE(readable(global.bytes()));
  PeriodFixture growth;
  growth.growth[2] = infinity;
  EXPECT_FALSE(readable(growth.bytes()));
  PeriodFixture of_conflict;
  of_conflict.conflict_growth[0] = std::nan("");
  EXPECT_FALSE(readable(of_conflict.bytes()));
}

TEST(PeriodCodec, RefusesFiniteNumbersThatAreTooLarge) {
  PeriodFixture growth;
  growth.growth[2] = 1e30;
  EXPECT_THAT(
      [&] {
        Period p;
        read_period(growth.bytes(), p);
      },
      ThrowsMessage<WorkerError>(
          HasSubstr("a number beyond 1e+10: 1e+30 at place 2 of 3 in growth")));
  PeriodFixture node;
  node.frames[1].node_features[5] = -1e20F;
  EXPECT_FALSE(readable(node.bytes()));
  PeriodFixture score;
  score.score.speed_sum = 1e300;
  EXPECT_FALSE(readable(score.bytes()));
  PeriodFixture large;
  large.growth[2] = 1e9;
  EXPECT_TRUE(readable(large.bytes()));
}

TEST(PeriodCodec, CarriesSeveralTermsAndRefusesImpossibleNumbersOfThem) {
  PeriodFixture fixture;
  fixture.growth = {1, 2, 3, 4};
  fixture.conflict_growth = {1, 2, 3, 4, 5, 6, 7, 8};
  Period written = fixture.period();
  written.num_terms = 2;
  std::vector<std::byte> bytes(4096);
  bytes.resize(PeriodWriter(written, bytes).size());
  Period read;
  read_period(bytes, read);
  EXPECT_EQ(read.num_terms, 2);
  EXPECT_EQ(read.num_steps(), 2);
  EXPECT_THAT(read.growth, ElementsAreArray(fixture.growth));
  EXPECT_THAT(read.conflict_growth, ElementsAreArray(fixture.conflict_growth));
  written.num_terms = 6;
  std::vector<std::byte> many(4096);
  many.resize(PeriodWriter(written, many).size());
  EXPECT_FALSE(readable(many));
}

TEST(PeriodCodec, RefusesInvalidGraphs) {
  PeriodFixture source;
  source.frames[1].edge_src[0] = 3;
  EXPECT_FALSE(readable(source.bytes()));
  PeriodFixture pointer;
  pointer.frames[1].edge_ptr[1] = 2;
  pointer.frames[1].edge_ptr[2] = 1;
  EXPECT_FALSE(readable(pointer.bytes()));
  PeriodFixture ids;
  ids.frames[2].vehicle_id[1] = ids.frames[2].vehicle_id[0];
  EXPECT_FALSE(readable(ids.bytes()));
  PeriodFixture candidate;
  candidate.candidates[0].node = 4;
  EXPECT_FALSE(readable(candidate.bytes()));
}

TEST(PeriodCodec, ReadsEveryCommandThatAScriptMayGive) {
  for (int kind = 0; kind <= static_cast<int>(scene::kLastLongitudinal); ++kind) {
    PeriodFixture fixture;
    fixture.scripted[0].longitudinal = static_cast<scene::Longitudinal>(kind);
    const auto bytes = fixture.bytes();
    Period period;
    ASSERT_NO_THROW(read_period(bytes, period)) << scene::name_of(fixture.scripted[0].longitudinal);
    EXPECT_EQ(period.of<VehicleSection>().scripted[0].longitudinal,
              fixture.scripted[0].longitudinal);
  }
}

TEST(PeriodCodec, RefusesInvalidCommands) {
  PeriodFixture speed;
  speed.scripted[0].longitudinal = static_cast<scene::Longitudinal>(200);
  EXPECT_FALSE(readable(speed.bytes()));
  PeriodFixture lane;
  lane.scripted[0].lane_change = static_cast<scene::LaneChange>(2);
  EXPECT_FALSE(readable(lane.bytes()));
  PeriodFixture hold;
  hold.scripted[0].hold_s = std::nan("");
  EXPECT_FALSE(readable(hold.bytes()));
  PeriodFixture advice;
  advice.advice[0].longitudinal = static_cast<scene::Longitudinal>(200);
  EXPECT_FALSE(readable(advice.bytes()));
}

TEST(PeriodCodec, ReportsAnObservationThatDoesNotFit) {
  std::vector<std::byte> small(2048);
  PeriodFixture fixture;
  fixture.frames = {testing::make_frame(200, 1.0)};
  EXPECT_THAT([&] { fixture.write(small); },
              ThrowsMessage<WorkerError>(HasSubstr("rollout.max_vehicles")));
}

TEST(PeriodCodec, HasRoomForTheVehiclesItWasMadeFor) {
  PeriodFixture full;
  full.frames.assign(4, testing::make_frame(500, 1.0));
  for (auto& frame : full.frames) {
    // Each vehicle has 8 neighbours, the maximum.
    frame.edge_src.assign(500 * 8, 1);
    frame.edge_features.assign(500 * 8 * 4, 1.0F);
    for (std::size_t i = 0; i <= 500; ++i) frame.edge_ptr[i] = static_cast<std::int32_t>(8 * i);
  }
  std::vector<std::byte> buffer(period_bytes(PeriodFixture::settings(500)));
  EXPECT_TRUE(readable(full.write(buffer)));
}

TEST(PeriodCodec, ReturnsTheSectionOfTheLights) {
  const testing::LightFixture lights;
  PeriodFixture fixture;
  fixture.lights = lights.section();
  const auto bytes = fixture.bytes();
  Period read;
  read_period(bytes, read);
  EXPECT_THAT(read.of<LightSection>().cost_s, ElementsAreArray(lights.cost_s));
  EXPECT_THAT(read.of<LightSection>().rows, ElementsAreArray(lights.rows));
  ASSERT_EQ(read.of<LightSection>().choices.size(), 2U);
  EXPECT_EQ(read.of<LightSection>().choices[1].light, 2);
  EXPECT_EQ(read.of<LightSection>().choices[1].num_greens, 3);
  ASSERT_EQ(read.of<LightSection>().idle.size(), 1U);
  EXPECT_EQ(read.of<LightSection>().idle[0].light, 1);
  EXPECT_EQ(read.of<LightSection>().idle[0].present, -1);
  EXPECT_THAT(read.of<LightSection>().idle_rows, ElementsAreArray(lights.idle_rows));
  EXPECT_THAT(read.of<LightSection>().ids, ElementsAreArray(lights.ids));
  EXPECT_EQ(read.of<LightSection>().graph.num_nodes(), 3);
  EXPECT_THAT(read.of<LightSection>().graph.node_features,
              ElementsAreArray(lights.graph.node_features));
  EXPECT_THAT(read.of<LightSection>().graph.edge_ptr, ElementsAreArray(lights.graph.edge_ptr));
  EXPECT_THAT(read.of<LightSection>().graph.edge_src, ElementsAreArray(lights.graph.edge_src));
  EXPECT_THAT(read.of<LightSection>().graph.edge_features,
              ElementsAreArray(lights.graph.edge_features));
  EXPECT_EQ(read.of<VehicleSection>().frames.size(), fixture.frames.size());
  for (std::size_t size = 0; size < bytes.size(); size += 8) {
    EXPECT_FALSE(readable(std::span(bytes).first(size))) << size;
  }
}

TEST(PeriodCodec, RefusesASectionOfAnUnknownAgent) {
  const PeriodFixture fixture;
  std::vector<std::byte> buffer(period_bytes(PeriodFixture::settings(8)));
  PeriodWriter writer(fixture.period(), buffer);
  writer.add("trams", [](ByteWriter&) {});
  Period period;
  EXPECT_THAT([&] { read_period(std::span(buffer).first(writer.size()), period); },
              ThrowsMessage<WorkerError>(HasSubstr("there is no agent 'trams'")));
}

TEST(PeriodCodec, AnAbsentGraphTakesNoRoom) {
  testing::LightFixture lights;
  PeriodFixture fixture;
  fixture.lights = lights.section();
  const std::size_t with = fixture.bytes().size();
  const std::size_t features = lights.graph.node_features.size();
  lights.graph = {};
  fixture.lights = lights.section();
  const auto bytes = fixture.bytes();
  EXPECT_TRUE(readable(bytes));
  EXPECT_GE(with, bytes.size() + features * sizeof(float));
}

TEST(PeriodCodec, RefusesImpossibleSectionsOfLights) {
  using Lights = testing::LightFixture;
  const auto refusal = [](const std::function<void(Lights&)>& spoil, const char* why) {
    Lights lights;
    spoil(lights);
    PeriodFixture fixture;
    fixture.lights = lights.section();
    const auto bytes = fixture.bytes();
    Period period;
    EXPECT_THAT([&] { read_period(bytes, period); }, ThrowsMessage<WorkerError>(HasSubstr(why)));
  };
  refusal([](Lights& w) { w.cost_s[0] = std::nan(""); }, "NaN");
  refusal([](Lights& w) { w.rows[3] = INFINITY; }, "infinity");
  refusal([](Lights& w) { w.choices[1].light = 3; }, "lists light 3");
  refusal([](Lights& w) { w.choices[1].light = 0; }, "lists light 0");
  refusal([](Lights& w) { w.choices[0].present = 2; }, "present green 2");
  refusal([](Lights& w) { w.choices[0].num_greens = 4; }, "has features of 5 greens");
  refusal([](Lights& w) { w.choices[0].present = -1; }, "present green -1");
  refusal([](Lights& w) { w.idle[0].light = 3; }, "lists light 3");
  refusal([](Lights& w) { w.idle[0].present = -2; }, "present green -2");
  refusal([](Lights& w) { w.idle[0].num_greens = 3; }, "has features of 2 greens");
  refusal([](Lights& w) { w.idle_rows[1] = INFINITY; }, "infinity");
  refusal([](Lights& w) { w.graph.node_features[3] = INFINITY; }, "infinity");
  refusal([](Lights& w) { w.graph.edge_features[1] = std::nanf(""); }, "NaN");
  refusal([](Lights& w) { w.graph.edge_src[1] = 3; }, "node 3, but there are only 3 nodes");
  refusal([](Lights& w) { w.graph.edge_ptr[1] = 3; }, "does not rise from 0 to 2");
  refusal([](Lights& w) { w.cost_s.push_back(0.0); }, "3 lights, expected 4");
}

}  // namespace
}  // namespace traffic::rollout
