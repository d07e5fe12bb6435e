#include "joint/settings.h"

#include "policy/starting_weights.h"
#include "traffic/core/error.h"

namespace traffic::train::joint {

void check_settings(const config::Config& config) {
  if (!config.env.vehicles_act() || !config.env.lights_act()) {
    throw ConfigError(
        "env.agents: training joint trains vehicles and traffic lights together; expected "
        "env.agents = [\"vehicles\", \"lights\"] (ppo trains vehicles alone, signals lights)");
  }
  if (config.episodes.rollout_fragment_length != 0 || config.episodes.length_s != 0.0) {
    throw ConfigError(
        "episodes.rollout_fragment_length is {} and episodes.length_s {:g}: lights learn from "
        "whole "
        "episodes; expected 0 and 0",
        config.episodes.rollout_fragment_length, config.episodes.length_s);
  }
  if (config.lights.learns_values()) {
    throw ConfigError(
        "lights.learner is \"dqn\": lights that are trained together with vehicles learn by PPO; "
        "expected \"ppo\"");
  }
  check_starting_weights(config);
}

}  // namespace traffic::train::joint
