// SnakesEnvironment: a game of 3v3 snakes as an environment of a pool. The orders of a rank move
// the learning team; the environment moves the opponents.
#include "traffic/rollout/game/snakes_environment.h"

#include <algorithm>
#include <cstring>

#include "traffic/core/error.h"

namespace traffic::rollout {
namespace {

template <typename Order>
Order order_from(std::span<const std::byte> bytes) {
  TRAFFIC_CHECK(bytes.size() == sizeof(Order), "an order has {} bytes, expected {}", bytes.size(),
                sizeof(Order));
  Order order;
  std::memcpy(&order, bytes.data(), sizeof(Order));
  return order;
}

}  // namespace

Environment::Answer SnakesEnvironment::reset(std::span<const std::byte> order,
                                             std::span<std::byte> room, EnvHost& /*host*/) {
  const auto start = order_from<SnakesStart>(order);
  TRAFFIC_CHECK(start.team < game::kTeams, "the team is {}, expected 0 or 1", start.team);
  TRAFFIC_CHECK(static_cast<int>(start.opponent) < game::kNumOpponents,
                "the opponent is {}, expected one of {}", static_cast<int>(start.opponent),
                game::opponent_names());
  start_ = start;
  arena_.start(0, start.seed);
  return answer(room, {});
}

Environment::Answer SnakesEnvironment::step(std::span<const std::byte> order,
                                            std::span<std::byte> room, EnvHost& host) {
  host.begin_step();
  const auto move = order_from<SnakesMove>(order);
  const int other = 1 - start_.team;
  const game::TeamActions reply = arena_.choose(0, other, start_.opponent);
  game::Actions actions{};
  std::ranges::copy(move.actions, actions.begin() + game::first_snake(start_.team));
  std::ranges::copy(reply, actions.begin() + game::first_snake(other));
  std::array<float, game::kSnakes> rewards{};
  std::uint8_t over = 0;
  arena_.step({.actions = actions, .rewards = rewards, .over = {&over, 1}});
  if (start_.team == 1) std::ranges::rotate(rewards, rewards.begin() + game::kTeamSnakes);
  return answer(room, rewards);
}

Environment::Answer SnakesEnvironment::answer(std::span<std::byte> room,
                                              const std::array<float, game::kSnakes>& rewards) {
  SnakesAnswer answer{.features = {}, .rewards = rewards};
  game::write_features(arena_.view(0, start_.team), answer.features);
  TRAFFIC_CHECK(room.size() >= sizeof(answer),
                "an answer has room for {} bytes, expected at least {}", room.size(),
                sizeof(answer));
  std::memcpy(room.data(), &answer, sizeof(answer));
  return {.size_bytes = sizeof(answer), .done = arena_.board(0).over};
}

}  // namespace traffic::rollout
