/// summary.json: what a run came to, for programs to read. Fields are described in
/// docs/run-folder.md.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace traffic::report {

struct Summary {
  std::string status;  ///< done | stopped | failed
  std::int64_t phase = 0;
  std::int64_t steps = 0;                    ///< optimiser steps since the start of the phase
  double seconds = 0.0;                      ///< of training in this process
  double samples_per_s = 0.0;                ///< of all ranks
  double env_steps_per_s = 0.0;              ///< of all simulations; 0 where there are none
  double startup_s = 0.0;                    ///< from launch to the end of the first step
  std::vector<std::int64_t> peak_rss_bytes;  ///< a rank
  std::vector<std::pair<std::string, double>> time_seconds;  ///< of rank 0, see TimeSplit
  std::map<std::string, double> result;                      ///< the phase's figures
  std::uint64_t parameters_xxh3 = 0;                         ///< hash of the final parameters
  std::map<std::string, std::int64_t> faults;                ///< what was survived, counted
};

/// @throws ResourceError
void write_summary(const std::filesystem::path& dir, const Summary& summary);

}  // namespace traffic::report
