/// How a run that goes on is doing: for people who look at it from another terminal.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "traffic/report/run_reader.h"

namespace traffic::report {

/// A process of a run on this machine.
struct RunProcess {
  int pid = 0;
  std::string name;  ///< "traffic_train", "rollout_worker", "sumo_env", ...
  char state =
      '?';  ///< as in /proc: R runs, S waits, D waits for a disk, T is stopped, Z has ended
  std::int64_t rss_bytes = 0;
  double cpu_s = 0;
};

struct RunState {
  std::string folder;
  std::string status;
  std::string progress;  ///< the last line of train.log that tells of it: phase, step, time left
  std::string last_log_line;
  double log_age_s = 0;              ///< since train.log grew
  std::filesystem::path checkpoint;  ///< the newest; empty: none yet
  double checkpoint_age_s = 0;
  std::vector<RunProcess> processes;  ///< of the process that writes here and all that belong to it
};

/// @throws DataError as RunReader
RunState state_of(const RunReader& run);
/// @param each_process a row for each process in place of one for each program
std::string state_text(const RunState& state, bool each_process);
nlohmann::ordered_json state_json(const RunState& state);

}  // namespace traffic::report
