/// Section [game], the games that the learner plays.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "traffic/train/run/training.h"

namespace traffic::train::snakes {

struct Snakes {
  std::int64_t games = 64;  ///< of a rank, at once
  std::string opponent_difficulty_strategy = "mix";
  std::vector<std::string> opponents = {"greedy", "bfs"};
  std::int64_t evasion_from_episode = 0;  ///< 0: never
  double self_play_share = 0.0;
  std::int64_t self_play_from_episode = 0;
  std::int64_t pool_interval = 1'000;  ///< episodes between two past selves
  std::int64_t pool_size = 8;
  bool learn_from_both = true;
  bool surroundings = true;
  bool turned = true;
  double reward_own = 0.5;
  double reward_team = 0.5;
  double reward_enemies = 0.7;
  double reward_death = 0.2;
  double reward_win = 0.0;
};

/// [offpolicy] and [game]
std::vector<OwnSection> own_sections();
/// test, normal, max, memory, vram
std::vector<config::PresetRow> presets();

/// What one key cannot know of another.
/// @throws ConfigError
void check_settings(const Snakes& snakes);

}  // namespace traffic::train::snakes
