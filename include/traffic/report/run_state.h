/// The state of a run in progress, to watch it from another terminal.
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
  std::string progress;  ///< last line of train.log with phase, step and time left
  std::string last_log_line;
  double log_age_s = 0;              ///< time since train.log last grew
  std::filesystem::path checkpoint;  ///< newest checkpoint; empty: none yet
  double checkpoint_age_s = 0;       ///< time since it was written
  std::vector<ProcessFacts>
      processes;  ///< the process that writes here and all processes of its job
};

/// @throws DataError for the same reasons as RunReader
RunState state_of(const RunReader& run);
/// @param each_process true: a row for each process; false: a row for each program
std::string state_text(const RunState& state, bool each_process);
nlohmann::ordered_json state_json(const RunState& state);

}  // namespace traffic::report
