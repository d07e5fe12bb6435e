/// The configuration section [offpolicy]: settings for trainings that learn from a replay. The rows
/// in settings.cpp describe each key.
#pragma once

#include <cstdint>
#include <string>

#include "traffic/train/run/training.h"

namespace traffic::train::offpolicy {

struct OffPolicy {
  std::string learner = "dqn";
  std::int64_t max_episodes = 50'000;  ///< summed over all ranks
  std::int64_t hidden_dim = 128;
  std::int64_t layers = 2;
  std::int64_t buffer_size = 400'000;  ///< transitions that a rank keeps
  std::int64_t learning_starts = 10'000;
  std::int64_t batch_size = 512;
  std::string batch_scope = "rank";
  std::int64_t update_interval = 128;  ///< environment steps of a rank between updates
  std::int64_t n_step = 3;
  double gamma = 0.97;
  double learning_rate = 5e-4;  ///< learning rate of dqn, and of the critics of ddpg and sac
  double actor_learning_rate = 5e-4;
  double final_learning_rate_share = 0.1;
  std::string scale_lr = "none";
  double clip_norm = 10.0;
  /// Share by which targets move after each update; 0 means that they are set equal every
  /// target_interval updates.
  double tau = 0.0;
  /// Number of updates after which targets are set equal, if tau is 0.
  std::int64_t target_interval = 250;
  double epsilon = 1.0;
  double epsilon_speed = 0.99995;  ///< factor on epsilon for each environment step of all ranks
  double epsilon_end = 0.02;
  std::string ddpg_action = "gumbel";
  double gumbel_temperature = 1.0;
  double target_entropy = 0.25;  ///< share of the maximum entropy
  double temperature_learning_rate = 1e-3;
  std::int64_t init_episode = 0;
  std::int64_t eval_interval = 2'000;  ///< episodes, summed over all ranks
  std::int64_t eval_games = 200;       ///< games against each opponent
};

/// The section with its keys, for the configuration.
config::OwnSection own_section();

/// Checks that the settings fit each other and the number of ranks.
/// @throws ConfigError
void check_settings(const OffPolicy& learner, int num_ranks);

/// Number of transitions that a rank draws for an update.
std::int64_t batch_of_rank(const OffPolicy& settings, int num_ranks);
/// Factor on learning rates according to offpolicy.scale_lr.
double learning_rate_scale(const OffPolicy& settings, int num_ranks);

}  // namespace traffic::train::offpolicy
