/// Finds out whether a process runs, and in which state it is. The process need not be a child of
/// this process.
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
  std::uint64_t start_ticks = 0;  ///< start of the process, in clock ticks since boot
  std::int64_t resident_pages = 0;
};
/// @return nothing if no process has this pid
std::optional<ProcessStat> process_stat(pid_t pid);

/// Start of a process in clock ticks since boot; 0 if no process has this pid. Start and pid
/// together identify a process uniquely, even if the system gives the pid to a later process.
std::uint64_t process_start_ticks(pid_t pid);

/// Whether the process with this pid and start still runs. False for a zombie, which holds no
/// resources any more, and for a later process with the same pid.
bool is_running(pid_t pid, std::uint64_t start_ticks);

/// Whether a signal (SIGSTOP) has stopped the process; false if there is no such process.
bool is_stopped(pid_t pid);

/// The identity of a process in shared memory. All bytes are 0 until a process calls enter_self().
struct SharedProcess {
  std::atomic<std::int32_t> pid;
  std::atomic<std::uint64_t> start_ticks;
};

/// Writes the identity of this process to `entry`.
void enter_self(SharedProcess& entry);
/// Whether the process in the entry runs; true as long as no process has called enter_self().
bool is_running_or_unknown(const SharedProcess& entry);

}  // namespace traffic::os
