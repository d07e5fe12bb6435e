/// RunLock prevents two processes from writing to the folder of one run at the same time. A
/// training holds it from start to end.
#pragma once

#include <filesystem>
#include <string>

#include "traffic/os/descriptor.h"

namespace traffic::checkpoint {

/// Locks <dir>/run.lock and the folder itself with flock. The kernel releases the locks when the
/// process ends, however it ends. run.lock contains the holder: its process id, the start of the
/// process, the host and the time.
class RunLock {
 public:
  /// @throws ResourceError naming the holder if a live process holds the lock. Also if the folder
  ///   cannot be written to, or if run.lock is a symbolic link
  explicit RunLock(const std::filesystem::path& dir);
  ~RunLock();
  RunLock(const RunLock&) = delete;
  RunLock& operator=(const RunLock&) = delete;

  /// If run.lock still named its previous holder, which ended without emptying the file: the
  /// description of that holder for the log, e.g.
  /// "pid 123 on node1 since ...". Otherwise empty.
  [[nodiscard]] const std::string& taken_over_from() const { return taken_over_from_; }

 private:
  os::Descriptor file_;
  os::Descriptor folder_;  ///< locked too, in case somebody removes run.lock
  std::string taken_over_from_;
};

}  // namespace traffic::checkpoint
