#include "traffic/rollout/traffic/sumo_env.h"

#include <memory>
#include <string_view>

#include "traffic/config/load.h"
#include "traffic/core/fault.h"
#include "traffic/rollout/pool/processes.h"
#include "traffic_environment.h"

namespace traffic::rollout {

int run_sumo_env(int argc, char** argv) {
  return run_environment_process(argc, argv, [](std::string_view settings, const EnvPlace& place) {
    fault::hit("sumo_env.start", place.env, place.incarnation);
    return std::make_unique<TrafficEnvironment>(
        config::parse_stored_config(settings, "the resolved config"), place.env);
  });
}

}  // namespace traffic::rollout
