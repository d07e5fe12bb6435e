/// How the lights of a joint training learn.
#pragma once

#include <cstdint>
#include <vector>

#include "traffic/config/config.h"
#include "traffic/train/run/training.h"

namespace traffic::train::joint {

/// PPO's figures for the lights, where those of the vehicles stand in [ppo].
struct JointLights {
  double learning_rate = 3e-3;
  double final_learning_rate = 2e-4;
  double gamma = 0.95;
  double gae_lambda = 0.8;
  double ent_coef = 0.0;
  double target_kl = 0.05;
  std::int64_t minibatch_size = 512;
  std::int64_t num_epochs = 8;
};

/// @return the configuration with the lights' figures in [ppo]
config::Config config_of_lights(const config::Config& config);

std::vector<OwnSection> own_sections();
/// @throws ConfigError
void check_settings(const config::Config& config);

}  // namespace traffic::train::joint
