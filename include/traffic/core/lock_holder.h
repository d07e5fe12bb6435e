/// The content of run.lock: which process uses a run folder (docs/reference/run-folder.md). The
/// process that takes the lock writes the file. traffic_status reads the file, and so does any
/// process that finds the lock taken.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace traffic {

/// The process that holds the lock. Its text is "<pid> <start ticks> <host> <UTC time>\n".
struct LockHolder {
  pid_t pid = 0;
  std::uint64_t start_ticks = 0;  ///< os::process_start_ticks(), to recognise a reused pid
  std::string host;
  std::string since;  ///< UTC time at which the process took the lock

  /// "pid 123 on node1 since 2025-01-31T17:05:09.123Z"
  [[nodiscard]] std::string describe() const;
  /// Whether the process runs on this machine; false for a zombie, which holds no lock any more.
  [[nodiscard]] bool is_running_here() const;
};

/// A LockHolder that describes this process, with the present time as `since`.
LockHolder self_as_lock_holder();

/// The text of run.lock.
std::string to_text(const LockHolder& holder);
/// Reads the text of run.lock. @return nothing if the text is empty or malformed
std::optional<LockHolder> parse_lock_holder(std::string_view text);

}  // namespace traffic
