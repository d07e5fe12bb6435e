/// summary.json: the result of a run, for scripts. docs/reference/run-folder.md describes every
/// field.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

namespace traffic::report {

struct Summary {
  std::string status;   ///< running | done | stopped | failed
  std::string message;  ///< why the run stopped or failed; otherwise empty
  int exit_code = 0;
  std::string training;    ///< name of the training; empty in a run of several trainings
  std::string phase;       ///< value of run.phase
  int world_size = 1;      ///< number of ranks
  std::int64_t steps = 0;  ///< steps (iterations) done
  double seconds = 0.0;    ///< duration
  std::map<std::string, double> rates;       ///< e.g. samples_per_s, env_steps_per_s
  std::optional<double> startup_s;           ///< time from the launch to the end of the first step
  std::vector<std::int64_t> peak_rss_bytes;  ///< peak resident memory of each rank
  std::map<std::string, double> time_share;  ///< share of the duration that each activity took
  /// The training's own results, such as the metrics of its best parameters.
  nlohmann::ordered_json result = nlohmann::ordered_json::object();
  std::string parameters_xxh3;                 ///< hash of the parameters, 16 hexadecimal digits
  std::map<std::string, std::int64_t> faults;  ///< e.g. restarted environments, lost log lines
};

/// @throws ResourceError if the file cannot be written
void write_summary(const std::filesystem::path& path, const Summary& summary);

}  // namespace traffic::report
