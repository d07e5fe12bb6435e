#include "joint/settings.h"

#include "policy/starting_weights.h"
#include "signals/settings.h"
#include "traffic/core/error.h"

namespace traffic::train::joint {

#define JOINT_KEY(member) TRAFFIC_EXTENSION_KEY("joint_lights", JointLights, member)

config::Config config_of_lights(const config::Config& config) {
  const auto own = config.extension<JointLights>();
  config::Config of_lights = config;
  of_lights.ppo.learning_rate = own.learning_rate;
  of_lights.ppo.final_learning_rate = own.final_learning_rate;
  of_lights.ppo.gamma = own.gamma;
  of_lights.ppo.gae_lambda = own.gae_lambda;
  of_lights.ppo.ent_coef = own.ent_coef;
  of_lights.ppo.target_kl = own.target_kl;
  of_lights.ppo.minibatch_size = own.minibatch_size;
  of_lights.ppo.num_epochs = own.num_epochs;
  return of_lights;
}

std::vector<OwnSection> own_sections() {
  using config::between;
  return {{{"joint_lights",
            "How traffic lights learn that are trained together with vehicles; "
            "what they are is in [signals], and [ppo] is the vehicles'."},
           {{JOINT_KEY(learning_rate), .help = "At the start.",
             .range = {.low = 0.0, .high = 1.0, .low_open = true}},
            {JOINT_KEY(final_learning_rate), .help = "At the end, where it comes on a line.",
             .range = {.low = 0.0, .high = 1.0}},
            {JOINT_KEY(gamma), .help = "Discount of a control period.",
             .range = {.low = 0.0, .high = 1.0}},
            {JOINT_KEY(gae_lambda), .help = "Of generalised advantage estimation.",
             .range = {.low = 0.0, .high = 1.0}},
            {JOINT_KEY(ent_coef), .help = "Of the entropy in the loss.",
             .range = {.low = 0.0, .high = 10.0}},
            {JOINT_KEY(target_kl), .help = "Passes end when the policy has moved by so much.",
             .range = {.low = 0.0, .high = 10.0}},
            {JOINT_KEY(minibatch_size), .help = "Of all ranks.", .unit = "decisions",
             .range = between(1, 1e9)},
            {JOINT_KEY(num_epochs), .help = "Passes over what an iteration brought.",
             .range = between(1, 1000)}}}};
}

void check_settings(const config::Config& config) {
  if (!config.env.vehicles_act() || !config.env.lights_act()) {
    throw ConfigError(
        "env.actors: training joint trains vehicles and traffic lights together; expected "
        "env.actors = [\"vehicles\", \"signals\"] (ppo trains vehicles alone, signals lights)");
  }
  if (config.ppo.rollout_fragment_length != 0 || config.ppo.episode_s != 0.0) {
    throw ConfigError(
        "ppo.rollout_fragment_length is {} and ppo.episode_s {:g}: lights learn from whole "
        "episodes; expected 0 and 0",
        config.ppo.rollout_fragment_length, config.ppo.episode_s);
  }
  if (config.extension<signals::Signals>().learns_values()) {
    throw ConfigError(
        "signals.learner is \"dqn\": lights that are trained together with vehicles learn by PPO; "
        "expected \"ppo\"");
  }
  check_starting_weights(config);
}

}  // namespace traffic::train::joint
