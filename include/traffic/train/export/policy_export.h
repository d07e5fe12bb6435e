/// Exports trained policies for programs in other languages: TorchScript, ONNX, and a table of
/// their inputs and outputs. Records states with the decisions of this program, with which an
/// export can be checked. The program traffic_export uses it.
#pragma once

#include <cstdint>
#include <filesystem>

#include "traffic/config/config.h"

namespace traffic::train {

/// Maximum difference between an output of an exported network and that of this program, relative
/// to the larger of the output and 1. Both compute in float32, in a different order.
inline constexpr double kExportTolerance = 1e-6;

/// Writes the policies of a checkpoint to a folder: for each agent AGENT (vehicles, lights) the
/// files AGENT.pt (TorchScript) and AGENT.onnx, and for all of them policy.json
/// (docs/guide/export.md). Removes such files of an earlier export from the folder.
/// @throws CheckpointError if the checkpoint cannot be read, or holds no policy of vehicles or
///   traffic lights
/// @throws ResourceError if a file cannot be written
void export_policies(const std::filesystem::path& checkpoint, const std::filesystem::path& folder);

/// Which states record_states() records.
struct StateRecording {
  config::Config config;  ///< names the scenario and the settings of its simulation
  std::filesystem::path checkpoint;
  std::filesystem::path folder;  ///< has the files of export_policies()
  std::uint64_t seed = 0;        ///< seed of the simulation
  std::int64_t states = 0;       ///< number of states for each agent
};

/// Result of record_states().
struct RecordedStates {
  std::int64_t states = 0;
  std::int64_t decisions = 0;       ///< candidates and lights for which the networks were compared
  double largest_difference = 0.0;  ///< see kExportTolerance
};

/// Lets the checkpoint control a simulation, greedily, and writes states.jsonl: the states in which
/// it decides, and its decisions. Compares the outputs of the TorchScript files in the folder with
/// those of this program in each state.
/// @throws NumericError if they differ by more than kExportTolerance, or choose otherwise
/// @throws DataError if the simulation ends before a state was recorded
RecordedStates record_states(const StateRecording& recording);

}  // namespace traffic::train
