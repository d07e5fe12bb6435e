/// Tests of the bytes by which a checkpoint stores an EpisodeState, the state of a running episode.
#include "train/rollouts/episode_state.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <limits>

#include "traffic/core/error.h"

namespace traffic::train {
namespace {

constexpr std::int64_t kScenarios = 2;

EpisodeState make_state() {
  torch::manual_seed(3);
  EpisodeState state;
  state.progress.running = true;
  state.progress.episode = 4;
  state.progress.losses = 1;
  state.sampling_seed = 0x123456789abcdef0;
  state.time_s = 37.5;
  state.outcome.order = 12;
  state.outcome.traffic.seed = 99;
  state.outcome.traffic.scenario = 1;
  state.outcome.steps = 7;
  state.outcome.reward = -2.5;
  state.outcome.cost = 0.25;
  state.outcome.score.seconds = 36.0;
  state.outcome.score.arrived = 11;
  state.outcome.score.completion_sum = 3.75;
  state.outcome.score.shield_overrides = 2;
  state.memory.vehicle_id = {2, 5, 9};
  state.memory.state = {.hidden = torch::randn({2, 3, 4}), .cell = torch::randn({2, 3, 4})};
  state.pending = Observation{.own = torch::randn({3, 5}),
                              .shared = torch::randn({1, 2}),
                              .conflict = torch::randn({2, 3})};
  state.given = {{},
                 {{.vehicle_id = 5,
                   .longitudinal = scene::Longitudinal::kAcceleration,
                   .lane_change = scene::LaneChange::kRight,
                   .value = -1.5,
                   .hold_s = 4.0},
                  {.vehicle_id = 9, .longitudinal = scene::Longitudinal::kStop, .hold_s = 2.0}},
                 {}};
  return state;
}

/// Checks that damaged bytes are either loaded or refused. A loaded state must be writable again.
void expect_loads_or_refuses(const checkpoint::Bytes& bytes) {
  try {
    const EpisodeState state = episode_state_from(bytes, kScenarios, torch::kCPU);
    EXPECT_EQ(to_bytes(state).size(), bytes.size());
    for (const auto& commands : state.given) {
      for (const scene::Command& command : commands) {
        EXPECT_FALSE(scene::name_of(command.longitudinal).empty());
      }
    }
  } catch (const CheckpointError&) {
  }
}

TEST(EpisodeStateBytes, KeepEveryKindOfCommand) {
  for (int kind = 0; kind <= static_cast<int>(scene::kLastLongitudinal); ++kind) {
    EpisodeState state = make_state();
    state.given[1][0].longitudinal = static_cast<scene::Longitudinal>(kind);
    const EpisodeState back = episode_state_from(to_bytes(state), kScenarios, torch::kCPU);
    EXPECT_EQ(back.given[1][0].longitudinal, state.given[1][0].longitudinal);
  }
}

TEST(EpisodeStateBytes, RestoreTheSameState) {
  const EpisodeState state = make_state();
  const checkpoint::Bytes bytes = to_bytes(state);
  const EpisodeState back = episode_state_from(bytes, kScenarios, torch::kCPU);
  EXPECT_EQ(to_bytes(back), bytes);
  EXPECT_TRUE(back.progress.running);
  EXPECT_EQ(back.progress.episode, 4);
  EXPECT_EQ(back.progress.losses, 1);
  EXPECT_EQ(back.sampling_seed, state.sampling_seed);
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
  EXPECT_EQ(back.memory.vehicle_id, state.memory.vehicle_id);
  EXPECT_TRUE(torch::equal(back.memory.state.hidden, state.memory.state.hidden));
  EXPECT_TRUE(torch::equal(back.memory.state.cell, state.memory.state.cell));
  ASSERT_TRUE(back.pending.has_value());
  EXPECT_TRUE(torch::equal(back.pending->own, state.pending->own));
  EXPECT_TRUE(torch::equal(back.pending->conflict, state.pending->conflict));
  ASSERT_EQ(back.given.size(), 3U);
  ASSERT_EQ(back.given[1].size(), 2U);
  EXPECT_EQ(back.given[1][0].lane_change, scene::LaneChange::kRight);
  EXPECT_EQ(back.given[1][0].value, -1.5);
  EXPECT_EQ(back.given[1][1].vehicle_id, 9U);
}

TEST(EpisodeStateBytes, RestoreAStateBeforeTheFirstEpisode) {
  const checkpoint::Bytes bytes = to_bytes(EpisodeState{});
  const EpisodeState back = episode_state_from(bytes, kScenarios, torch::kCPU);
  EXPECT_FALSE(back.progress.running);
  EXPECT_EQ(back.progress.episode, -1);
  EXPECT_FALSE(back.memory.state.hidden.defined());
  EXPECT_FALSE(back.pending.has_value());
}

TEST(EpisodeStateBytes, AreRefusedIfCutAnywhere) {
  const checkpoint::Bytes bytes = to_bytes(make_state());
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    const checkpoint::Bytes cut(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size));
    EXPECT_THROW(episode_state_from(cut, kScenarios, torch::kCPU), CheckpointError) << size;
  }
  checkpoint::Bytes longer = bytes;
  longer.push_back(std::byte{0});
  EXPECT_THROW(episode_state_from(longer, kScenarios, torch::kCPU), CheckpointError);
}

TEST(EpisodeStateBytes, LoadOrAreRefusedWithAnyByteChanged) {
  const checkpoint::Bytes bytes = to_bytes(make_state());
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    for (const int flip : {0x01, 0x02, 0x40, 0x80, 0xff}) {
      checkpoint::Bytes changed = bytes;
      changed[at] ^= static_cast<std::byte>(flip);
      expect_loads_or_refuses(changed);
    }
  }
}

TEST(EpisodeStateBytes, LoadOrAreRefusedWithHostileSizesAnywhere) {
  const checkpoint::Bytes bytes = to_bytes(make_state());
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

TEST(EpisodeStateBytes, OfTheFirstFormatAreRefusedWithARemedy) {
  // The first format had no version. It began with a flag, and numbers followed.
  const checkpoint::Bytes old(400, std::byte{0});
  try {
    static_cast<void>(episode_state_from(old, kScenarios, torch::kCPU));
    FAIL() << "bytes without a version were accepted";
  } catch (const CheckpointError& error) {
    EXPECT_THAT(error.what(), ::testing::AllOf(::testing::HasSubstr("another version"),
                                               ::testing::HasSubstr("run.init_from")));
  }
}

TEST(EpisodeStateBytes, OfAScenarioOutsideTheRunAreRefused) {
  EXPECT_THROW(episode_state_from(to_bytes(make_state()), 1, torch::kCPU), CheckpointError);
}

TEST(EpisodeStateBytes, AreRefusedIfTheMemoryDoesNotFitItsVehicles) {
  EpisodeState state = make_state();
  state.memory.vehicle_id.pop_back();
  EXPECT_THROW(episode_state_from(to_bytes(state), kScenarios, torch::kCPU), CheckpointError);
  state = make_state();
  state.memory.vehicle_id = {2, 9, 5};
  EXPECT_THROW(episode_state_from(to_bytes(state), kScenarios, torch::kCPU), CheckpointError);
  state = make_state();
  state.memory.state.cell = torch::randn({1, 3, 4});
  EXPECT_THROW(episode_state_from(to_bytes(state), kScenarios, torch::kCPU), CheckpointError);
}

}  // namespace
}  // namespace traffic::train
