/// Keeps a second process from writing to the folder of a run.
#pragma once

#include <filesystem>
#include <string>

#include "traffic/os/descriptor.h"

namespace traffic::checkpoint {

/// Locks <dir>/run.lock and the folder itself with flock. The kernel releases the locks when the
/// process ends, however it ends. The file names the holder: pid, start of the process, host, time.
class RunLock {
 public:
  /// @throws ResourceError naming the holder if a live process holds it, or if the folder cannot be
  /// written to, or if run.lock is a link
  explicit RunLock(const std::filesystem::path& dir);
  ~RunLock();
  RunLock(const RunLock&) = delete;
  RunLock& operator=(const RunLock&) = delete;

  /// The earlier holder ("pid 123 on node1 since ..."), for the log, if it died without an orderly
  /// end; otherwise empty.
  [[nodiscard]] const std::string& taken_over_from() const { return taken_over_from_; }

 private:
  os::Descriptor file_;
  os::Descriptor folder_;  ///< locked as well
  std::string taken_over_from_;
};

}  // namespace traffic::checkpoint
