/// Makes the game 3v3 snakes an environment of a pool (pool/environment.h). The user of the pool
/// commands one team, and a scripted opponent plays the other team.
///
/// Programs that step thousands of games are faster with game::Arena. This class is for code that
/// works on any pool of environments.
#pragma once

#include <array>
#include <cstdint>

#include "traffic/game/arena.h"
#include "traffic/game/features.h"
#include "traffic/rollout/pool/environment.h"

namespace traffic::rollout {

/// SnakesStart is the order of a reset and SnakesMove the order of a step; SnakesAnswer answers
/// both. They are sent as the bytes of the structs, which is safe because both sides run on one
/// machine.
struct SnakesStart {
  std::uint64_t seed = 0;
  game::Opponent opponent = game::Opponent::kRandom;
  std::uint8_t team = 0;  ///< index of the commanded team
};
struct SnakesMove {
  game::TeamActions actions{};
};
struct SnakesAnswer {
  std::array<float, game::kTeamSnakes * game::kNumFeatures> features{};
  std::array<float, game::kSnakes>
      rewards{};  ///< rewards of the commanded team come first; 0 after a start
};

/// Plays one game per episode.
class SnakesEnvironment final : public Environment {
 public:
  Answer reset(std::span<const std::byte> order, std::span<std::byte> room, EnvHost& host) override;
  Answer step(std::span<const std::byte> order, std::span<std::byte> room, EnvHost& host) override;

 private:
  Answer answer(std::span<std::byte> room, const std::array<float, game::kSnakes>& rewards);

  game::Arena arena_{1};
  SnakesStart start_;
};

}  // namespace traffic::rollout
