/// Processes several files at the same time, each in a process of its own. A process can write only
/// one HDF5 file at a time, and a damaged or malicious file may crash the process that reads it.
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
  std::string file;  ///< name of the file, for messages
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
  /// Folder of the outputs, from which incomplete files are removed at the end. Empty if the jobs
  /// write no files.
  std::string folder;
  std::int64_t jobs = 0;  ///< number of files processed at the same time; 0 means one for each CPU
};

/// Runs the jobs and returns their answers or errors, in the order of the jobs. This process must
/// have only one thread, because it forks.
/// @throws Error with ExitCode::kStopped when a signal requests a stop
[[nodiscard]] std::vector<FileAnswer> run_apart(const std::vector<FileJob>& jobs,
                                                const FileJobOptions& options);

/// Runs the jobs and returns their answers.
/// @throws the error of the first job that failed
[[nodiscard]] std::vector<nlohmann::json> run_all_apart(const std::vector<FileJob>& jobs,
                                                        const FileJobOptions& options);

}  // namespace traffic::data_prep
