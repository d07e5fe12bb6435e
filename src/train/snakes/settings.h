/// The configuration section [game] of the training `snakes`: opponents, observations and rewards.
/// The rows in settings.cpp describe each key.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "traffic/train/run/training.h"

namespace traffic::train::snakes {

struct Snakes {
  std::int64_t games = 64;  ///< simultaneous games of a rank
  std::string opponent_difficulty_strategy = "mix";
  std::vector<std::string> opponents = {"greedy", "bfs"};
  std::int64_t evasion_from_episode = 0;  ///< 0 means never
  double self_play_share = 0.0;
  std::int64_t self_play_from_episode = 0;
  std::int64_t pool_interval = 1'000;  ///< episodes of all ranks between two copies of the policy
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

/// The sections [offpolicy] and [game] with their keys.
std::vector<config::OwnSection> own_sections();
/// Values of the presets test, normal, max, memory and vram.
std::vector<config::PresetRow> presets();

/// Checks settings that must fit each other.
/// @throws ConfigError if they do not
void check_settings(const Snakes& snakes);

}  // namespace traffic::train::snakes
