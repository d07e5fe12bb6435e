/// One run, one folder: a second process that wants to write there is refused.
#pragma once

#include <filesystem>
#include <string>

#include "traffic/os/descriptor.h"

namespace traffic::checkpoint {

/// Holds <dir>/run.lock, and the folder, by flock; the kernel lets go when the process ends,
/// however it ends. The file says who holds it: pid, start of the process, host, time.
class RunLock {
 public:
  /// @throws ResourceError naming the holder if a live process holds it, or if the folder cannot be
  /// written to, or if run.lock is a link
  explicit RunLock(const std::filesystem::path& dir);
  ~RunLock();
  RunLock(const RunLock&) = delete;
  RunLock& operator=(const RunLock&) = delete;

  /// Who held it and died without letting go ("pid 123 on node1 since ..."), for the log; empty if
  /// the last run ended properly.
  [[nodiscard]] const std::string& taken_over_from() const { return taken_over_from_; }

 private:
  os::Descriptor file_;
  os::Descriptor folder_;  ///< locked as well
  std::string taken_over_from_;
};

}  // namespace traffic::checkpoint
