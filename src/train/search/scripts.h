/// Which scripted controllers may be worth trying in a network.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "traffic/config/config.h"
#include "traffic/sim/network_study.h"

namespace traffic::train {

struct ScriptsToTry {
  std::vector<std::string> texts{};  ///< those that say most about a kind first
  std::size_t kinds = 0;             ///< the first so many are one of each kind
  double step_length_s = 1.0;        ///< of the scenario
};

/// @param config whether "vehicles.top_k" is among search.decides says if they may command more
/// vehicles at once than it allows
ScriptsToTry scripts_to_try(const sim::NetworkStudy& study, const config::Config& config);

}  // namespace traffic::train
