/// Lists the scripted controllers that may help in a network.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "traffic/config/config.h"
#include "traffic/sim/network_study.h"

namespace traffic::train {

struct ScriptsToTry {
  std::vector<std::string> texts{};  ///< the most promising variants of all kinds first
  std::size_t kinds = 0;             ///< number of kinds; the first texts are one of each kind
  double step_length_s = 1.0;        ///< step length of the scenario's simulation
  double episode_s = 0;              ///< simulated time of a whole episode
};

/// Scripts of vehicles, or of traffic lights if only these are trained. If search.decides contains
/// vehicles.top_k, scripts may command more vehicles at once than vehicles.top_k.
ScriptsToTry scripts_to_try(const sim::NetworkStudy& study, const config::Config& config);

}  // namespace traffic::train
