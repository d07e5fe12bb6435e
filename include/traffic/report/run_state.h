/// RunState: the progress, the newest checkpoint and the processes of a run, for users who watch
/// the run from another terminal.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "traffic/core/process_family.h"
#include "traffic/report/run_reader.h"

namespace traffic::report {

struct RunState {
  std::string folder;
  std::string status;    ///< as in to_string(RunStatus)
  std::string progress;  ///< last line in train.log that the progress bar wrote
  std::string last_log_line;
  double log_age_s = 0;              ///< time since train.log last grew
  std::filesystem::path checkpoint;  ///< newest checkpoint; empty if there is none yet
  double checkpoint_age_s = 0;       ///< time since the checkpoint was written
  /// The process that writes to the run's folder, and all processes of its job.
  std::vector<ProcessFacts> processes;
};

/// @throws DataError for the same reasons as RunReader
RunState state_of(const RunReader& run);
/// The state as text for a terminal.
/// @param each_process true for one row per process, false for one row per program
std::string state_text(const RunState& state, bool each_process);
nlohmann::ordered_json state_json(const RunState& state);

}  // namespace traffic::report
