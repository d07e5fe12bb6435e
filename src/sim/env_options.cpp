// Turns the configuration into options of simulations and controllers.
#include "traffic/sim/env_options.h"

#include <algorithm>

#include "traffic/config/objective.h"
#include "traffic/config/scenario_mix.h"

namespace traffic::sim {

EnvOptions env_options(const config::Env& env) {
  EnvOptions options;
  options.scenario = env.scenario;
  options.sumo_args = env.sumo_args;
  options.emissions = config::objective_of(env.objective).needs_emissions();
  options.cv_types = env.cv_types;
  options.cv_share = env.cv_share;
  options.max_time_s = env.max_time_s;
  options.shield = env.shield;
  options.shield_limits = {
      .thw_s = env.shield_thw_s, .ttc_s = env.shield_ttc_s, .brake_mps2 = env.shield_brake_mps2};
  options.control_limits = {.slow_mps = env.slow_mps,
                            .max_slowdown_mps2 = env.max_slowdown_mps2,
                            .min_accel_mps2 = env.min_accel_mps2,
                            .max_accel_mps2 = env.max_accel_mps2};
  options.signal_limits = {.yellow_s = env.yellow_s,
                           .all_red_s = env.all_red_s,
                           .min_green_s = env.min_green_s,
                           .max_green_s = env.max_green_s,
                           .phase_range = env.phase_range};
  return options;
}

EnvOptions first_env_options(const config::Env& env) {
  EnvOptions options = env_options(env);
  options.scenario = config::scenario_mix(env).front().scenario;
  return options;
}

scene::CandidateRule candidate_rule(const config::Config& config) {
  const config::Vehicles& vehicles = config.vehicles;
  const bool only_late = vehicles.longitudinal == "categorical" && !vehicles.lane_change &&
                         std::all_of(vehicles.commands.begin(), vehicles.commands.end(),
                                     [](const std::string& command) {
                                       return command == "none" || command == "arrive_late";
                                     });
  return {.zone_m = config.env.zone_m,
          .lead_only = config.env.lead_only,
          .behind = config.env.behind,
          .released_only = only_late,
          .lead_s = config.env.lead_s};
}

scene::ControllerOptions controller_options(const config::Config& config) {
  return {.top_k = static_cast<int>(config.vehicles.top_k),
          .period_s = config.env.control_period_s,
          .candidates = candidate_rule(config)};
}

std::unique_ptr<scene::Advisor> make_advisor(const config::Config& config) {
  if (config.vehicles.advisor.empty()) return nullptr;
  return std::make_unique<scene::Advisor>(
      scene::make_controller(config.vehicles.advisor, controller_options(config)),
      config.env.control_period_s);
}

}  // namespace traffic::sim
