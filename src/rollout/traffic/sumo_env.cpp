// The main function of the program sumo_env, which runs a SUMO simulation for a training.
#include "traffic/rollout/traffic/sumo_env.h"

#include <memory>
#include <string_view>

#include "traffic/config/load.h"
#include "traffic/core/fault.h"
#include "traffic/rollout/pool/processes.h"
#include "traffic_environment.h"

namespace traffic::rollout {

int run_sumo_env(int argc, char** argv, const std::vector<SimulatedAgent>& more) {
  for (const SimulatedAgent& row : more) config::register_agent(row.agent, row.own_sections);
  return run_environment_process(
      argc, argv,
      [&](std::string_view settings, const EnvPlace& place) -> std::unique_ptr<Environment> {
        fault::hit("sumo_env.start", place.env, place.incarnation);
        const auto config = config::parse_stored_config(settings, "the resolved config");
        return std::make_unique<TrafficEnvironment>(config, place.env, more);
      });
}

}  // namespace traffic::rollout
