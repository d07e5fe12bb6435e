/// Processes several files at once, each in a process of its own: HDF5 writes and compresses one
/// file at a time per process, and a crafted file may crash the library.
#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "traffic/core/error.h"

namespace traffic::data_prep {

/// Receives the number of frames since the last call.
using Progress = std::function<void(std::int64_t frames)>;

struct FileJob {
  std::string file;  ///< for messages
  /// The work, called in a process of its own; returns the answer. May throw.
  std::function<nlohmann::json(const Progress& progress)> work;
};

struct FileAnswer {
  nlohmann::json answer;
  std::string error;  ///< empty if the job succeeded
  ExitCode code = ExitCode::kDone;
};

struct FileJobOptions {
  std::string label;  ///< label of the progress bar
  std::string
      folder;  ///< folder of the outputs, which is cleaned of incomplete files; may be empty
  std::int64_t jobs = 0;  ///< number of files processed at once; 0: one for each CPU
};

/// Runs the jobs and returns their outcomes in the order of the jobs. This process must have one
/// thread only.
/// @throws Error with ExitCode::kStopped when a signal requests a stop
[[nodiscard]] std::vector<FileAnswer> run_apart(const std::vector<FileJob>& jobs,
                                                const FileJobOptions& options);

/// Runs the jobs and returns their answers.
/// @throws the error of the first job that failed
[[nodiscard]] std::vector<nlohmann::json> run_all_apart(const std::vector<FileJob>& jobs,
                                                        const FileJobOptions& options);

}  // namespace traffic::data_prep
