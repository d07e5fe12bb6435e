/// The scenarios from which a training draws its episodes, and the share of each.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "traffic/config/config.h"

namespace traffic::config {

struct ScenarioShare {
  std::string scenario;  ///< a .sumocfg or the name of a shipped scenario
  double share = 1.0;    ///< share of the episodes
};

/// The scenarios of env.scenarios, with shares that add up to 1. If the list is empty, the result
/// is env.scenario with the share 1.
/// @throws ConfigError if an entry is not "scenario" or "scenario:weight"
std::vector<ScenarioShare> scenario_mix(const Env& env);

/// The name of a scenario in metrics and recordings: "merge" for any path to merge.sumocfg.
std::string scenario_name(const std::string& scenario);

/// Why an entry of env.scenarios is refused; empty if it is allowed.
std::string refuse_scenario_entry(std::string_view entry);

}  // namespace traffic::config
