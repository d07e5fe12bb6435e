#include "agents/vehicles.h"

#include <string>

#include "agents/vehicles_dqn.h"
#include "agents/vehicles_ppo.h"
#include "traffic/core/error.h"

namespace traffic::train {
namespace {

[[noreturn]] void refuse_for_q_learning(const char* key, const std::string& found,
                                        const char* expected) {
  throw ConfigError("{} is {}, which Q-learning cannot use; expected {}", key, found, expected);
}

void check_vehicles(const config::Config& config, Algorithm algorithm) {
  if (algorithm != Algorithm::kQLearning) return;
  if (config.vehicles.longitudinal != "categorical") {
    refuse_for_q_learning(
        "vehicles.longitudinal", config.vehicles.longitudinal,
        "categorical, because Q-learning estimates a value for each command of a list");
  }
  if (config.vehicles.lane_change) refuse_for_q_learning("vehicles.lane_change", "true", "false");
  if (config.episodes.rollout_fragment_length == 0) {
    refuse_for_q_learning(
        "episodes.rollout_fragment_length", "0",
        "a number of control steps above 0, because with Q-learning vehicles learn from fragments "
        "of episodes");
  }
}

std::unique_ptr<Agent> make_vehicles(const AgentContext& context, Algorithm algorithm) {
  if (algorithm == Algorithm::kQLearning) return make_vehicles_by_dqn(context);
  return make_vehicles_by_ppo(context, algorithm == Algorithm::kConstrainedPpo);
}

}  // namespace

AgentRow vehicles_agent() {
  return {.format = rollout::format_of(rollout::kVehicles),
          .check = check_vehicles,
          .make = make_vehicles};
}

}  // namespace traffic::train
