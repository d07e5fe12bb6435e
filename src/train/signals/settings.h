/// Settings of the training of traffic lights beside those of [ppo], and what is drawn for an
/// episode.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "policy/signal_policy.h"
#include "traffic/config/config.h"
#include "traffic/rollout/traffic/period.h"
#include "traffic/train/run/training.h"

namespace traffic::train::signals {

struct Signals {
  std::string learner = "ppo";
  std::int64_t hidden_dim = 48;
  std::int64_t encoder_layers = 0;
  std::int64_t episodes = 4;                ///< of all ranks in an iteration
  std::vector<double> demand = {0.1, 1.3};  ///< least and greatest factor on the demand
  double reward_scale = 0.1;                ///< of a second lost
  std::int64_t max_greens = 8;              ///< that a decision in a replay has room for

  [[nodiscard]] bool learns_values() const { return learner == "dqn"; }
};

SignalKind kind_of(const Signals& settings);

std::vector<OwnSection> own_sections();
std::vector<config::PresetRow> presets();
/// @throws ConfigError
void check_settings(const config::Config& config);

/// Traffic and demand of a training episode; by run.seed, the iteration and the place in it.
rollout::EpisodeSpec training_episode(const config::Config& config, std::int64_t iteration,
                                      std::int64_t place);
/// Of an evaluation while training: the scenarios in turn, demands from the least to the greatest.
rollout::EpisodeSpec selection_episode(const config::Config& config, std::int64_t place);

}  // namespace traffic::train::signals
