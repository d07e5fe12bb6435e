/// Runs the program traffic_eval as a child process of traffic_train. This serves two purposes: to
/// check that simulations run at all, and to compare the result of a phase (one training of a run)
/// with other controllers. Call these functions on one rank.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "traffic/config/config.h"

namespace traffic::train {

/// Starts one simulation of the configuration and steps it for two control periods.
/// @param config_path file that contains `config`; it is written if it does not exist
/// @throws Error with the exit code and the message of traffic_eval
void check_simulation(const std::filesystem::path& config_path, const config::Config& config);

/// The result of evaluate_phase().
struct PhaseEvaluation {
  std::string table;  ///< the text that traffic_eval printed
  /// A JSON object per controller: gain over no control, metrics, safety.
  nlohmann::ordered_json controllers;
};

/// Compares a checkpoint, on evaluation.seeds, with evaluation.controllers and with the scripts
/// that the training imitated. Writes evaluation.json, evaluation.csv and the folder replay to the
/// folder of config_path.
/// @return nothing if a stop was requested while traffic_eval was running
/// @throws Error with the exit code and the message of traffic_eval
std::optional<PhaseEvaluation> evaluate_phase(const std::filesystem::path& config_path,
                                              const config::Config& config,
                                              const std::filesystem::path& checkpoint);

}  // namespace traffic::train
