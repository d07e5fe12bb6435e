/// Another program of ours, run to its end with its output kept.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace traffic::train {

struct ProgramOutput {
  bool stopped = false;  ///< a stop was requested meanwhile: it was ended
  int exit_code = 0;     ///< 128 + signal where it was killed
  std::string out;       ///< standard output
  std::string error;     ///< standard error
};

/// Waits for its end. It does not outlive this process.
/// @throws ResourceError if it cannot be started
ProgramOutput run_program(const std::filesystem::path& program,
                          const std::vector<std::string>& arguments);

}  // namespace traffic::train
