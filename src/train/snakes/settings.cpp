#include "snakes/settings.h"

#include <utility>

#include "offpolicy/settings.h"
#include "traffic/core/error.h"
#include "traffic/game/opponents.h"

namespace traffic::train::snakes {
namespace {

using config::between;

#define SNAKES_KEY(member) TRAFFIC_EXTENSION_KEY("game", Snakes, member)

constexpr config::Range kShare{.low = 0.0, .high = 1.0};

std::string refuse_as_opponent(std::string_view text) {
  if (game::opponent_named(text)) return {};
  return "expected one of " + game::opponent_names() + ", or its level";
}

std::vector<config::Row> snakes_rows() {
  return {
      {SNAKES_KEY(games), .help = "Number of games that a rank plays at once.",
       .range = between(1, 1e5)},
      {SNAKES_KEY(opponent_difficulty_strategy),
       .help =
           "How the scripted opponent of a game is chosen. `mix`: at random from `game.opponents`. "
           "With the other strategies, the level of the opponent rises from 0 to 4 with the "
           "episodes. `linear`: evenly; `exponential`: slowly at first; `curriculum`: level 1 "
           "after "
           "10 % of the episodes, 2 after 30 %, 3 after 60 %, 4 after 85 %.",
       .choices = {"mix", "linear", "exponential", "curriculum"}},
      {SNAKES_KEY(opponents),
       .help = "Scripted opponents if `game.opponent_difficulty_strategy` is `mix`.",
       .refuse = refuse_as_opponent},
      {SNAKES_KEY(evasion_from_episode),
       .help =
           "From this episode on every scripted opponent is the script `evasive`; 0 means never.",
       .range = between(0, 1e9)},
      {SNAKES_KEY(self_play_share),
       .help = "Share of the games that are played against a past self (an earlier copy of the "
               "policy), once there is one.",
       .range = kShare},
      {SNAKES_KEY(self_play_from_episode), .help = "Episode from which on past selves are stored.",
       .range = between(0, 1e9)},
      {SNAKES_KEY(pool_interval),
       .help =
           "Number of episodes, summed over all ranks, after which the next past self is stored.",
       .unit = "episodes", .range = between(1, 1e9)},
      {SNAKES_KEY(pool_size), .help = "Maximum number of past selves; the newest are kept.",
       .range = between(1, 1000)},
      {SNAKES_KEY(learn_from_both),
       .help = "Whether the learner also learns from the experience of the opponents."},
      {SNAKES_KEY(surroundings),
       .help = "Whether a snake observes the cells around its head and which snake is nearer to "
               "each bean, beside its 61 features."},
      {SNAKES_KEY(turned), .help = "Whether a snake observes the board turned so that it heads up, "
                                   "and mirrored if its nearest bean is on its left."},
      {SNAKES_KEY(reward_own), .help = "Weight of the length that a snake itself gains or loses.",
       .range = between(-100, 100)},
      {SNAKES_KEY(reward_team), .help = "Weight of the mean gain of the snake's team.",
       .range = between(-100, 100)},
      {SNAKES_KEY(reward_enemies),
       .help = "Weight of the mean gain of the enemies, which is subtracted.",
       .range = between(-100, 100)},
      {SNAKES_KEY(reward_death), .help = "Cost of dying, in addition to the lost length.",
       .range = between(-100, 100)},
      {SNAKES_KEY(reward_win),
       .help = "Reward at the end of a won game; a lost game costs as much.",
       .range = between(-1000, 1000)},
  };
}

}  // namespace

std::vector<config::OwnSection> own_sections() {
  return {offpolicy::own_section(),
          {{"game", "The game 3v3 snakes: opponents, observations and rewards of the training."},
           snakes_rows()}};
}

std::vector<config::PresetRow> presets() {
  return {
      // key, test, normal, max, memory, vram
      {"offpolicy.max_episodes", {{"256", "", "100000", "", ""}}},
      {"offpolicy.buffer_size", {{"20000", "", "1000000", "100000", ""}}},
      {"offpolicy.learning_starts", {{"1000", "", "", "", ""}}},
      {"offpolicy.batch_size", {{"64", "512", "1024", "256", "256"}}},
      {"offpolicy.hidden_dim", {{"32", "", "256", "", ""}}},
      {"offpolicy.eval_interval", {{"128", "", "", "", ""}}},
      {"offpolicy.eval_games", {{"20", "", "", "", ""}}},
      {"game.games", {{"16", "", "", "32", ""}}},
  };
}

void check_settings(const Snakes& snakes) {
  if (snakes.opponent_difficulty_strategy == "mix" && snakes.opponents.empty()) {
    throw ConfigError("game.opponents is empty, expected at least one of {}",
                      game::opponent_names());
  }
}

}  // namespace traffic::train::snakes
