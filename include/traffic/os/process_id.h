/// Which process is meant, and whether it still lives; it need not be a child of this one.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>

namespace traffic::os {

/// What the kernel says of a process (proc(5), /proc/PID/stat).
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

/// False also for a zombie, which holds nothing any more and does nothing, and for a later process
/// that got the same number.
bool is_running(pid_t pid, std::uint64_t start_ticks);

/// Whether a signal has stopped it (SIGSTOP) and nobody has let it go on; false if there is none.
bool is_stopped(pid_t pid);

/// A process in memory that several share; zeroed memory is one that has not entered.
struct SharedProcess {
  std::atomic<std::int32_t> pid;
  std::atomic<std::uint64_t> start_ticks;
};

/// Enters this process.
void enter_self(SharedProcess& entry);
/// True as long as nobody has entered.
bool is_running_or_unknown(const SharedProcess& entry);

}  // namespace traffic::os
