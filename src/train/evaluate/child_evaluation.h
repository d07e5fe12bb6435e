/// Runs traffic_eval as a child process of the coordinator: to check that simulations run at all,
/// and to compare the result of a phase with other controllers. Call these functions on one rank.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "traffic/config/config.h"

namespace traffic::train {

/// Starts one simulation of the configuration and steps it for two control periods.
/// @param config_path file of the same configuration; written if it does not exist
/// @throws Error with the exit code and the message of traffic_eval
void check_simulation(const std::filesystem::path& config_path, const config::Config& config);

struct PhaseEvaluation {
  std::string table;                   ///< the text that traffic_eval printed
  nlohmann::ordered_json controllers;  ///< a row per controller: gain over none, metrics, safety
};

/// Compares a checkpoint with evaluation.controllers, and with the scripts that it imitated, on
/// evaluation.seeds. Writes evaluation.json, evaluation.csv and the folder replay beside the
/// configuration.
/// @return nothing if a stop was requested meanwhile
/// @throws Error with the exit code and the message of traffic_eval
std::optional<PhaseEvaluation> evaluate_phase(const std::filesystem::path& config_path,
                                              const config::Config& config,
                                              const std::filesystem::path& checkpoint);

}  // namespace traffic::train
