/// Identity and state of any process, which need not be a child of this one.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>

namespace traffic::os {

/// State of a process as the kernel reports it in /proc/PID/stat (proc(5)).
struct ProcessStat {
  std::string name;
  char state = 'X';  ///< R runs, S waits, D waits for a disk, T is stopped, Z has ended, X is dead
  pid_t parent = 0;
  std::uint64_t cpu_ticks = 0;    ///< user and system time, in clock ticks
  std::uint64_t start_ticks = 0;  ///< since boot
  std::int64_t resident_pages = 0;
};
/// @return nothing if there is no such process
std::optional<ProcessStat> process_stat(pid_t pid);

/// Start of a process in clock ticks since boot; 0 if there is no such process. With the pid it
/// names a process uniquely, also after the pid is used again.
std::uint64_t process_start_ticks(pid_t pid);

/// Whether this process still runs. False for a zombie, which holds no resources any more, and for
/// a later process with the same pid.
bool is_running(pid_t pid, std::uint64_t start_ticks);

/// Whether a signal (SIGSTOP) has stopped the process; false if there is no such process.
bool is_stopped(pid_t pid);

/// The identity of a process in shared memory. Zeroed memory means that no process has entered.
struct SharedProcess {
  std::atomic<std::int32_t> pid;
  std::atomic<std::uint64_t> start_ticks;
};

/// Writes the identity of this process.
void enter_self(SharedProcess& entry);
/// Whether the process runs; true as long as none has entered.
bool is_running_or_unknown(const SharedProcess& entry);

}  // namespace traffic::os
