/// Owns the one simulation that libsumo can run in a process.
#pragma once

#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "sumo_outputs.h"
#include "sumo_run.h"

namespace traffic::sim {

/// Runs a user's scenario without the side effects that its files ask for: SUMO writes only the
/// files that the arguments name, prints nothing to stdout and opens no port.
class SumoSession {
 public:
  /// @throws Error if this process has another session
  SumoSession();
  ~SumoSession();
  SumoSession(const SumoSession&) = delete;
  SumoSession& operator=(const SumoSession&) = delete;

  /// Loads a scenario in place of the present one.
  /// @throws DataError with SUMO's own message
  void load(const SumoRun& run);
  /// SUMO's time at which the scenario begins. Closes the present simulation.
  double begin_s(const std::filesystem::path& sumocfg, const std::vector<std::string>& args);
  /// Writes the state of the simulation to a file.
  void save_state(const std::filesystem::path& file);
  void close() noexcept;

 private:
  StdoutGuard stdout_;
  std::set<std::string> outputs_;  ///< files that the arguments name
};

}  // namespace traffic::sim
