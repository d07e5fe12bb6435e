/// Work on several files at once, each in a process of its own: HDF5 writes and compresses one file
/// at a time in a process, and a crafted file may crash the library.
#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "traffic/core/error.h"

namespace traffic::data_prep {

/// Tells how many frames more are done.
using Progress = std::function<void(std::int64_t frames)>;

struct FileJob {
  std::string file;  ///< for messages
  /// What is to be done, in a process of its own; the answer comes back. May throw.
  std::function<nlohmann::json(const Progress& progress)> work;
};

struct FileAnswer {
  nlohmann::json answer;
  std::string error;  ///< empty: all went well
  ExitCode code = ExitCode::kDone;
};

struct FileJobOptions {
  std::string label;      ///< of the progress bar
  std::string folder;     ///< where files are written: no half file stays there; may be empty
  std::int64_t jobs = 0;  ///< files at once; 0: one for each CPU
};

/// One answer a job, in their order. This process must have one thread only.
/// @throws Error with ExitCode::kStopped when a signal asked to stop
[[nodiscard]] std::vector<FileAnswer> run_apart(const std::vector<FileJob>& jobs,
                                                const FileJobOptions& options);

/// The same where every file must go well.
/// @throws what went wrong with the first that did not
[[nodiscard]] std::vector<nlohmann::json> run_all_apart(const std::vector<FileJob>& jobs,
                                                        const FileJobOptions& options);

}  // namespace traffic::data_prep
