/// What this process uses and what the machine has.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace traffic {

/// Largest resident memory of this process so far.
std::int64_t peak_rss_bytes();
/// Resident memory of this process now.
std::int64_t rss_bytes();
/// Memory that the process may use: the machine's, or less where a control group limits it.
std::int64_t total_memory_bytes();

/// What of that is still free: for the machine, and below the limit of the control group.
std::int64_t available_memory_bytes();

/// What the machine has put from memory on a disk.
std::int64_t swap_used_bytes();
/// Processes of the machine that computed or wanted to, in the mean of the last minute.
double load_average();

/// The least limit of the control groups that a process is in, from its own (SLURM's, systemd's) up
/// to the root.
/// @param mount where control groups are mounted: /sys/fs/cgroup
/// @param groups the process's /proc/PID/cgroup
/// @return bytes; the largest number if there is no limit
std::int64_t cgroup_memory_limit_bytes(const std::filesystem::path& mount, std::string_view groups);
/// What this process was started with, its name first.
std::vector<std::string> command_line();
/// Name of this machine, without a domain.
std::string hostname();
/// Processes of a control group that the kernel has ended for want of memory.
/// @param mount where control groups are mounted: /sys/fs/cgroup
/// @param groups the process's /proc/PID/cgroup
/// @return -1 if no group counts them
std::int64_t cgroup_oom_kills(const std::filesystem::path& mount, std::string_view groups);
/// Of this process's control group; where that has no count of its own, of the machine since it
/// started, or 0.
std::int64_t num_oom_kills();
/// What to add where a process was found dead: empty unless there were more of these than `before`.
std::string memory_hint(std::int64_t oom_kills_before);
/// Bytes that an ordinary user may still write on the file system of an existing path.
/// @throws ResourceError if the path does not exist
std::int64_t free_disk_bytes(const std::filesystem::path& path);

}  // namespace traffic
