/// Lists the files of a scenario, and writes a .sumocfg with which SUMO's own programs simulate it.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "traffic/sim/sumo_env.h"

namespace traffic::sim {

/// Lists every file that SUMO reads for a scenario, sorted. These are the .sumocfg, the files that
/// its options and the arguments name, and the files that these files include or refer to.
/// @param sumo_args as EnvOptions::sumo_args
/// @throws DataError if the scenario is unknown or its options are not valid
std::vector<std::filesystem::path> scenario_files(const std::string& scenario,
                                                  const std::vector<std::string>& sumo_args);

/// Writes a .sumocfg with which SUMO's own programs simulate the first episode of a SumoEnv with
/// these options. The file has the episode's seed, demand and arguments, names files by their
/// absolute paths, and asks for no output.
/// @param settings more options of SUMO by name; they replace options of the same name from the
///   scenario and from the arguments
void write_sumocfg(const EnvOptions& options, const std::map<std::string, std::string>& settings,
                   const std::filesystem::path& file);

}  // namespace traffic::sim
