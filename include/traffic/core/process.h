/// Memory, load and identity of this process and of the machine.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace traffic {

/// Largest resident memory of this process so far, in bytes.
std::int64_t peak_rss_bytes();
/// Resident memory of this process now.
std::int64_t rss_bytes();
/// Memory in bytes that this process may use: all memory of the machine, or less if a control group
/// limits it.
std::int64_t total_memory_bytes();

/// The smaller of two numbers: total_memory_bytes() minus the resident memory of this process, and
/// the memory that is available on the machine. Memory of other processes of the control group is
/// not subtracted.
std::int64_t available_memory_bytes();

/// Memory of the machine that is swapped out to disk.
std::int64_t swap_used_bytes();
/// Number of the machine's processes that ran or waited for a core, averaged over the last minute.
double load_average();

/// Smallest memory limit of the control groups that contain a process, from its own group (of SLURM
/// or systemd) up to the root.
/// @param mount where control groups are mounted: /sys/fs/cgroup
/// @param groups the text of the process's /proc/PID/cgroup
/// @return bytes; the largest std::int64_t if there is no limit
std::int64_t cgroup_memory_limit_bytes(const std::filesystem::path& mount, std::string_view groups);
/// Arguments of this process; the name of the program comes first.
std::vector<std::string> command_line();
/// Name of this machine, without a domain.
std::string hostname();
/// Number of processes of a control group that the kernel has killed because memory ran out.
/// @param mount where control groups are mounted: /sys/fs/cgroup
/// @param groups the text of the process's /proc/PID/cgroup
/// @return -1 if no group counts killed processes
std::int64_t cgroup_oom_kills(const std::filesystem::path& mount, std::string_view groups);
/// cgroup_oom_kills() of this process's control group. If the group has no count, returns the
/// machine's count since it started, or 0.
std::int64_t num_oom_kills();
/// Text to append to the message about a dead process: it says that memory ran out. Empty if
/// num_oom_kills() has not risen above `oom_kills_before`.
std::string memory_hint(std::int64_t oom_kills_before);
/// Bytes that an ordinary user may still write on the file system of an existing path.
/// @throws ResourceError if the path does not exist
std::int64_t free_disk_bytes(const std::filesystem::path& path);

}  // namespace traffic
