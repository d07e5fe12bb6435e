/// Restricts the files that SUMO writes, and keeps SUMO from printing to stdout.
#pragma once

#include <set>
#include <string>

namespace traffic::sim {

/// From now on SUMO opens only these files for writing. Output of detectors, devices and other
/// elements of the user's files to any other file, or to a port, is discarded.
/// @param files as SUMO's options name them
void allow_outputs(std::set<std::string> files);

/// Keeps SUMO from printing to stdout, which belongs to the results of the program. While the guard
/// lives, such output is discarded or goes to stderr.
class StdoutGuard {
 public:
  StdoutGuard();
  ~StdoutGuard();
  StdoutGuard(const StdoutGuard&) = delete;
  StdoutGuard& operator=(const StdoutGuard&) = delete;

  /// @param shown true: the output goes to stderr; false, as at the beginning: it is discarded
  void show(bool shown);

 private:
  std::streambuf* stdout_;
};

}  // namespace traffic::sim
