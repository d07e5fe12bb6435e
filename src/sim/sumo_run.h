/// SumoRun describes one simulation; options_of() computes all options of SUMO for it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "sumo_options.h"

namespace traffic::sim {

struct SumoRun {
  std::filesystem::path sumocfg;
  std::uint64_t seed = 0;
  std::vector<std::string> args{};                ///< as EnvOptions::sumo_args
  double demand_factor = 1;                       ///< multiplies --scale of the sumocfg and args
  std::map<std::string, std::string> settings{};  ///< replace options of the sumocfg and the args
};

/// All options of SUMO for the run, by name.
/// @param options the options that SUMO has read from the run's sumocfg and args
/// @throws DataError if the args set the seed, or an option with which SUMO does not simulate
/// (--help, --save-configuration)
std::map<std::string, std::string> options_of(const SumoRun& run, const SumoOptions& options);

}  // namespace traffic::sim
