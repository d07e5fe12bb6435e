/// The bytes that a checkpoint keeps of a simulation.
#include "train/rollouts/episode_state.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <limits>

#include "traffic/core/error.h"

namespace traffic::train {
namespace {

constexpr std::int64_t kScenarios = 2;

EpisodeState make_slot() {
  torch::manual_seed(3);
  EpisodeState slot;
  slot.progress.running = true;
  slot.progress.episode = 4;
  slot.progress.losses = 1;
  slot.sampling_seed = 0x123456789abcdef0;
  slot.time_s = 37.5;
  slot.outcome.order = 12;
  slot.outcome.traffic.seed = 99;
  slot.outcome.traffic.scenario = 1;
  slot.outcome.steps = 7;
  slot.outcome.reward = -2.5;
  slot.outcome.cost = 0.25;
  slot.outcome.score.seconds = 36.0;
  slot.outcome.score.arrived = 11;
  slot.outcome.score.completion_sum = 3.75;
  slot.outcome.score.shield_overrides = 2;
  slot.memory.vehicle_id = {2, 5, 9};
  slot.memory.state = {.hidden = torch::randn({2, 3, 4}), .cell = torch::randn({2, 3, 4})};
  slot.pending = Observation{.own = torch::randn({3, 5}),
                             .shared = torch::randn({1, 2}),
                             .conflict = torch::randn({2, 3})};
  slot.given = {{},
                {{.vehicle_id = 5,
                  .longitudinal = scene::Longitudinal::kAcceleration,
                  .lane_change = scene::LaneChange::kRight,
                  .value = -1.5,
                  .hold_s = 4.0},
                 {.vehicle_id = 9, .longitudinal = scene::Longitudinal::kStop, .hold_s = 2.0}},
                {}};
  return slot;
}

/// Loads, or says that it cannot; what loads can be written again.
void expect_loads_or_refuses(const checkpoint::Bytes& bytes) {
  try {
    const EpisodeState slot = episode_state_from(bytes, kScenarios, torch::kCPU);
    EXPECT_EQ(to_bytes(slot).size(), bytes.size());
    for (const auto& commands : slot.given) {
      for (const scene::Command& command : commands) {
        EXPECT_FALSE(scene::name_of(command.longitudinal).empty());
      }
    }
  } catch (const CheckpointError&) {
  }
}

TEST(SlotBytes, KeepEveryCommandThatAScriptMayGive) {
  for (int kind = 0; kind <= static_cast<int>(scene::kLastLongitudinal); ++kind) {
    EpisodeState slot = make_slot();
    slot.given[1][0].longitudinal = static_cast<scene::Longitudinal>(kind);
    const EpisodeState back = episode_state_from(to_bytes(slot), kScenarios, torch::kCPU);
    EXPECT_EQ(back.given[1][0].longitudinal, slot.given[1][0].longitudinal);
  }
}

TEST(SlotBytes, ComeBackAsTheyWere) {
  const EpisodeState slot = make_slot();
  const checkpoint::Bytes bytes = to_bytes(slot);
  const EpisodeState back = episode_state_from(bytes, kScenarios, torch::kCPU);
  EXPECT_EQ(to_bytes(back), bytes);
  EXPECT_TRUE(back.progress.running);
  EXPECT_EQ(back.progress.episode, 4);
  EXPECT_EQ(back.progress.losses, 1);
  EXPECT_EQ(back.sampling_seed, slot.sampling_seed);
  EXPECT_EQ(back.time_s, 37.5);
  EXPECT_EQ(back.outcome.order, 12);
  EXPECT_EQ(back.outcome.traffic.seed, 99U);
  EXPECT_EQ(back.outcome.traffic.scenario, 1);
  EXPECT_EQ(back.outcome.steps, 7);
  EXPECT_EQ(back.outcome.reward, -2.5);
  EXPECT_EQ(back.outcome.cost, 0.25);
  EXPECT_EQ(back.outcome.score.seconds, 36.0);
  EXPECT_EQ(back.outcome.score.arrived, 11);
  EXPECT_EQ(back.outcome.score.completion_sum, 3.75);
  EXPECT_EQ(back.outcome.score.shield_overrides, 2);
  EXPECT_EQ(back.memory.vehicle_id, slot.memory.vehicle_id);
  EXPECT_TRUE(torch::equal(back.memory.state.hidden, slot.memory.state.hidden));
  EXPECT_TRUE(torch::equal(back.memory.state.cell, slot.memory.state.cell));
  ASSERT_TRUE(back.pending.has_value());
  EXPECT_TRUE(torch::equal(back.pending->own, slot.pending->own));
  EXPECT_TRUE(torch::equal(back.pending->conflict, slot.pending->conflict));
  ASSERT_EQ(back.given.size(), 3U);
  ASSERT_EQ(back.given[1].size(), 2U);
  EXPECT_EQ(back.given[1][0].lane_change, scene::LaneChange::kRight);
  EXPECT_EQ(back.given[1][0].value, -1.5);
  EXPECT_EQ(back.given[1][1].vehicle_id, 9U);
}

TEST(SlotBytes, OfASimulationThatHasNotBegunComeBack) {
  const checkpoint::Bytes bytes = to_bytes(EpisodeState{});
  const EpisodeState back = episode_state_from(bytes, kScenarios, torch::kCPU);
  EXPECT_FALSE(back.progress.running);
  EXPECT_EQ(back.progress.episode, -1);
  EXPECT_FALSE(back.memory.state.hidden.defined());
  EXPECT_FALSE(back.pending.has_value());
}

TEST(SlotBytes, CutAnywhereAreRefused) {
  const checkpoint::Bytes bytes = to_bytes(make_slot());
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    const checkpoint::Bytes cut(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size));
    EXPECT_THROW(episode_state_from(cut, kScenarios, torch::kCPU), CheckpointError) << size;
  }
  checkpoint::Bytes longer = bytes;
  longer.push_back(std::byte{0});
  EXPECT_THROW(episode_state_from(longer, kScenarios, torch::kCPU), CheckpointError);
}

TEST(SlotBytes, WithAnyByteChangedLoadOrAreRefused) {
  const checkpoint::Bytes bytes = to_bytes(make_slot());
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    for (const int flip : {0x01, 0x02, 0x40, 0x80, 0xff}) {
      checkpoint::Bytes changed = bytes;
      changed[at] ^= static_cast<std::byte>(flip);
      expect_loads_or_refuses(changed);
    }
  }
}

TEST(SlotBytes, WithHostileSizesAnywhereLoadOrAreRefused) {
  const checkpoint::Bytes bytes = to_bytes(make_slot());
  for (const std::uint64_t hostile :
       {std::uint64_t{0}, std::uint64_t{1} << 31, std::uint64_t{1} << 32, std::uint64_t{1} << 40,
        std::uint64_t{1} << 62, std::uint64_t{1} << 63,
        std::numeric_limits<std::uint64_t>::max()}) {
    for (std::size_t at = 0; at + sizeof(hostile) <= bytes.size(); ++at) {
      checkpoint::Bytes changed = bytes;
      std::memcpy(&changed[at], &hostile, sizeof(hostile));
      expect_loads_or_refuses(changed);
      if (at + 2 * sizeof(hostile) > bytes.size()) continue;
      std::memcpy(&changed[at + sizeof(hostile)], &hostile, sizeof(hostile));
      expect_loads_or_refuses(changed);
    }
  }
}

TEST(SlotBytes, OfTheFirstFormatAreRefusedWithWhatToDo) {
  // As they were written without a version: a flag, then numbers.
  const checkpoint::Bytes old(400, std::byte{0});
  try {
    static_cast<void>(episode_state_from(old, kScenarios, torch::kCPU));
    FAIL() << "there was no version";
  } catch (const CheckpointError& error) {
    EXPECT_THAT(error.what(), ::testing::AllOf(::testing::HasSubstr("another version"),
                                               ::testing::HasSubstr("run.init_from")));
  }
}

TEST(SlotBytes, OfAScenarioThatTheRunDoesNotHaveAreRefused) {
  EXPECT_THROW(episode_state_from(to_bytes(make_slot()), 1, torch::kCPU), CheckpointError);
}

TEST(SlotBytes, WhoseMemoryDoesNotFitItsVehiclesAreRefused) {
  EpisodeState slot = make_slot();
  slot.memory.vehicle_id.pop_back();
  EXPECT_THROW(episode_state_from(to_bytes(slot), kScenarios, torch::kCPU), CheckpointError);
  slot = make_slot();
  slot.memory.vehicle_id = {2, 9, 5};
  EXPECT_THROW(episode_state_from(to_bytes(slot), kScenarios, torch::kCPU), CheckpointError);
  slot = make_slot();
  slot.memory.state.cell = torch::randn({1, 3, 4});
  EXPECT_THROW(episode_state_from(to_bytes(slot), kScenarios, torch::kCPU), CheckpointError);
}

}  // namespace
}  // namespace traffic::train
