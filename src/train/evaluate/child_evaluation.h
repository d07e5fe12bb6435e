/// What traffic_eval, in a process of its own, finds out for the coordinator: whether simulations
/// run at all, and what a phase's result is worth beside other controllers. For one rank.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "traffic/config/config.h"

namespace traffic::train {

/// Starts one simulation of the configuration and steps it for two control periods.
/// @param config_path the same configuration as a file
/// @throws Error with the code and the message of the simulation
void check_simulation(const std::filesystem::path& config_path, const config::Config& config);

struct PhaseEvaluation {
  std::string table;                   ///< for people
  nlohmann::ordered_json controllers;  ///< a row a controller: gain over none, scores, safety
};

/// Compares a checkpoint with evaluation.controllers on evaluation.seeds; writes evaluation.json
/// and evaluation.csv beside the configuration.
/// @return nothing when a stop was requested meanwhile
/// @throws Error with the code and the message of traffic_eval
std::optional<PhaseEvaluation> evaluate_phase(const std::filesystem::path& config_path,
                                              const config::Config& config,
                                              const std::filesystem::path& checkpoint);

}  // namespace traffic::train
