#include "traffic/rollout/game/snakes_environment.h"

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <vector>

#include "traffic/rollout/pool/local_pool.h"

namespace traffic::rollout {
namespace {

template <typename T>
std::span<const std::byte> bytes_of(const T& value) {
  return std::as_bytes(std::span(&value, 1));
}

LocalPool make_pool(int num_envs) {
  return LocalPool({.num_envs = num_envs,
                    .max_answer_bytes = sizeof(SnakesAnswer),
                    .make = [](const EnvPlace&) { return std::make_unique<SnakesEnvironment>(); }});
}

SnakesAnswer answer_of(const LocalPool& pool, int env) {
  SnakesAnswer answer;
  EXPECT_EQ(pool.answer(env).size(), sizeof(answer));
  std::memcpy(&answer, pool.answer(env).data(), sizeof(answer));
  return answer;
}

/// Plays the same game twice, in an environment behind a pool and directly in an Arena, and
/// compares them. In both the commanded team plays by the script bfs.
TEST(SnakesEnvironment, PlaysAGameBehindAPool) {
  for (std::uint8_t team = 0; team < game::kTeams; ++team) {
    LocalPool pool = make_pool(1);
    const SnakesStart start{.seed = 5, .opponent = game::Opponent::kGreedy, .team = team};
    pool.reset(0, bytes_of(start));
    game::Arena beside(1);
    beside.start(0, start.seed);
    std::array<float, game::kSnakes> sums{};
    bool done = false;
    int steps = 0;
    for (; !done; ++steps) {
      const std::vector<Event> events = pool.wait_all(pool.my_envs());
      ASSERT_EQ(events.size(), 1U);
      ASSERT_FALSE(events[0].lost) << events[0].why;
      done = events[0].done;
      const SnakesAnswer answer = answer_of(pool, 0);
      std::array<float, game::kTeamSnakes * game::kNumFeatures> expected{};
      game::write_features(beside.view(0, team), expected);
      ASSERT_EQ(answer.features, expected);
      for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += answer.rewards[i];
      if (done) break;
      const SnakesMove move{.actions = beside.choose(0, team, game::Opponent::kBfs)};
      pool.step(0, bytes_of(move));
      game::Actions actions{};
      const auto other = beside.choose(0, 1 - team, start.opponent);
      std::ranges::copy(move.actions, actions.begin() + game::first_snake(team));
      std::ranges::copy(other, actions.begin() + game::first_snake(1 - team));
      std::array<float, game::kSnakes> rewards{};
      std::uint8_t over = 0;
      beside.step({.actions = actions, .rewards = rewards, .over = {&over, 1}});
    }
    EXPECT_EQ(steps, game::kMaxSteps);
    const game::Board& last = beside.board(0);
    for (std::size_t i = 0; i < sums.size(); ++i) {
      const std::size_t snake = (i + game::kTeamSnakes * team) % game::kSnakes;
      EXPECT_EQ(sums[i], static_cast<float>(last.length[snake] - game::kStartLength))
          << "the commanded team's rewards must come first";
    }
    EXPECT_EQ(pool.counters().steps, static_cast<std::uint64_t>(game::kMaxSteps));
  }
}

TEST(SnakesEnvironment, AnInvalidStartOrMoveCostsTheEpisode) {
  LocalPool pool = make_pool(3);
  const SnakesStart team{.team = 2};
  const SnakesStart opponent{.opponent = static_cast<game::Opponent>(9)};
  pool.reset(0, bytes_of(team));
  pool.reset(1, bytes_of(opponent));
  pool.reset(2, bytes_of(SnakesMove{}));
  const std::vector<Event> events = pool.wait_all(pool.my_envs());
  ASSERT_EQ(events.size(), 3U);
  EXPECT_NE(events[0].why.find("the team is 2, expected 0 or 1"), std::string::npos)
      << events[0].why;
  EXPECT_NE(events[1].why.find("expected one of random"), std::string::npos) << events[1].why;
  EXPECT_NE(events[2].why.find("an order has 3 bytes, expected 16"), std::string::npos);
}

}  // namespace
}  // namespace traffic::rollout
