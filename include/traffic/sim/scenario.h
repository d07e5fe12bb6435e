/// Finds scenarios by name or path. A scenario is a road network with its traffic; a .sumocfg file
/// of SUMO describes it.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace traffic::sim {

/// Names of the scenarios that come with the program: the stems of configs/scenarios/*/*.sumocfg.
std::vector<std::string> shipped_scenarios();

/// Absolute path of a .sumocfg, given its path or the name of a shipped scenario ("merge").
/// Shipped scenarios are looked for in $TRAFFIC_SCENARIOS, ./configs/scenarios and the source tree.
/// @return nothing if there is no such file and no such name
std::optional<std::filesystem::path> known_scenario(std::string_view name_or_path);
/// Like known_scenario(), but an unknown scenario is an error.
/// @throws DataError that lists the shipped scenarios
std::filesystem::path find_scenario(std::string_view name_or_path);

}  // namespace traffic::sim
