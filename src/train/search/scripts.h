/// Lists the scripted controllers that may help in a network, so that a search tries them.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "traffic/config/config.h"
#include "traffic/sim/network_study.h"

namespace traffic::train {

struct ScriptsToTry {
  /// Scripts with their parameters; the most promising variant of each kind comes first.
  std::vector<std::string> texts{};
  /// Number of kinds of scripts; each of the first `kinds` texts is of another kind.
  std::size_t kinds = 0;
  double step_length_s = 1.0;  ///< step length of the scenario's simulation
  double episode_s = 0;        ///< simulated time of a whole episode
};

/// Lists scripts of vehicles if vehicles are trained, and otherwise scripts of traffic lights. If
/// search.decides contains vehicles.top_k, scripts may command more vehicles at once than the
/// present value of vehicles.top_k.
ScriptsToTry scripts_to_try(const sim::NetworkStudy& study, const config::Config& config);

}  // namespace traffic::train
