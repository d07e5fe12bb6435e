// Memory, load and identity of this process and of the machine, from /proc and control groups.
#include "traffic/core/process.h"

#include <sys/resource.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <limits>
#include <optional>
#include <sstream>

#include "traffic/core/atomic_file.h"

namespace traffic {
namespace {

/// Reads a row such as "Key: 7 kB" of a file of the kernel.
/// @return the number in bytes; nullopt if the file has no row with this key
std::optional<std::int64_t> bytes_of(const std::filesystem::path& path, const std::string& key) {
  std::ifstream file(path);
  std::string word;
  while (file >> word) {
    std::int64_t kb = 0;
    if (word == key) return file >> kb ? std::optional(kb * 1024) : std::nullopt;
  }
  return std::nullopt;
}

constexpr const char* kMachineMemory = "/proc/meminfo";

/// A limit in a file of a control group; the largest std::int64_t if the file is missing or sets no
/// limit ("max").
std::int64_t limit_in(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::int64_t limit = 0;
  return file >> limit && limit > 0 ? limit : std::numeric_limits<std::int64_t>::max();
}

/// A control group of Linux that limits memory: its folder and the names of its files, which differ
/// between version 1 and version 2 of control groups.
struct MemoryGroup {
  std::filesystem::path root;
  std::filesystem::path group;  ///< folder of the group, relative to root
  const char* limit;            ///< file with the limit
  const char* events;           ///< file with the number of killed processes
};

std::vector<MemoryGroup> memory_groups(const std::filesystem::path& mount,
                                       std::string_view groups) {
  std::vector<MemoryGroup> found;
  std::istringstream lines{std::string(groups)};
  for (std::string line; std::getline(lines, line);) {
    // version 2 writes "0::/slurm/job_7/step_0", version 1 writes "4:memory:/..."
    const auto first = line.find(':');
    const auto second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const auto group = std::filesystem::path(line.substr(second + 1)).relative_path();
    if (controllers.empty()) found.push_back({mount, group, "memory.max", "memory.events"});
    if (controllers == "memory") {
      found.push_back({mount / "memory", group, "memory.limit_in_bytes", "memory.oom_control"});
    }
  }
  return found;
}

std::string own_groups() {
  std::ifstream file("/proc/self/cgroup");
  return {std::istreambuf_iterator<char>(file), {}};
}

/// The number that follows a word in a file of words and numbers; -1 if the word is missing.
std::int64_t number_after(std::string_view wanted, const std::filesystem::path& path) {
  std::ifstream counters(path);
  std::string name;
  for (std::int64_t count = 0; counters >> name >> count;) {
    if (name == wanted) return count;
  }
  return -1;
}

}  // namespace

std::int64_t peak_rss_bytes() {
  // VmHWM starts anew when a process executes a program. The peak that getrusage() reports does
  // not: it may be the peak of the parent that forked this process.
  if (const auto bytes = bytes_of("/proc/self/status", "VmHWM:")) return *bytes;
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<std::int64_t>(usage.ru_maxrss) * 1024;
}

std::int64_t rss_bytes() {
  std::ifstream statm("/proc/self/statm");
  std::int64_t size_pages = 0;
  std::int64_t resident_pages = 0;
  statm >> size_pages >> resident_pages;
  return resident_pages * sysconf(_SC_PAGESIZE);
}

std::int64_t total_memory_bytes() {
  const std::int64_t total =
      static_cast<std::int64_t>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE);
  return std::min(total, cgroup_memory_limit_bytes("/sys/fs/cgroup", own_groups()));
}

std::int64_t available_memory_bytes() {
  const std::int64_t available = total_memory_bytes() - rss_bytes();
  return std::min(available, bytes_of(kMachineMemory, "MemAvailable:").value_or(available));
}

std::int64_t swap_used_bytes() {
  return bytes_of(kMachineMemory, "SwapTotal:").value_or(0) -
         bytes_of(kMachineMemory, "SwapFree:").value_or(0);
}

double load_average() {
  double load = 0.0;
  return getloadavg(&load, 1) == 1 ? load : 0.0;
}

std::int64_t cgroup_memory_limit_bytes(const std::filesystem::path& mount,
                                       std::string_view groups) {
  // In a container the root of the file system may be the container's own group, so this function
  // always checks the root, too.
  std::int64_t least = std::min(limit_in(mount / "memory.max"),
                                limit_in(mount / "memory" / "memory.limit_in_bytes"));
  for (const MemoryGroup& of : memory_groups(mount, groups)) {
    for (auto group = of.group; !group.empty(); group = group.parent_path()) {
      least = std::min(least, limit_in(of.root / group / of.limit));
    }
  }
  return least;
}

std::int64_t cgroup_oom_kills(const std::filesystem::path& mount, std::string_view groups) {
  for (const MemoryGroup& of : memory_groups(mount, groups)) {
    for (const auto& folder : {of.root / of.group, of.root}) {
      const std::int64_t kills = number_after("oom_kill", folder / of.events);
      if (kills >= 0) return kills;
    }
  }
  return -1;
}

std::vector<std::string> command_line() {
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  std::vector<std::string> words;
  for (std::string word; std::getline(file, word, '\0');) words.push_back(word);
  return words;
}

std::int64_t num_oom_kills() {
  // Prefers the count of this process's group, because the machine's count includes processes of
  // other users.
  const std::int64_t ours = cgroup_oom_kills("/sys/fs/cgroup", own_groups());
  return ours >= 0 ? ours : std::max<std::int64_t>(0, number_after("oom_kill", "/proc/vmstat"));
}

std::string memory_hint(std::int64_t oom_kills_before) {
  const std::int64_t kills = num_oom_kills() - oom_kills_before;
  if (kills <= 0) return {};
  return fmt::format(
      "; memory ran out, and the kernel killed {} process{} (see dmesg). Use fewer simulations "
      "(rollout.workers, rollout.envs_per_worker), smaller batches (data.batch_size, "
      "ppo.minibatch_size) or fewer ranks on a machine, or ask the scheduler for more memory",
      kills, kills == 1 ? "" : "es");
}

std::string hostname() {
  std::array<char, 256> name{};
  if (gethostname(name.data(), name.size() - 1) != 0) return "unknown";
  const std::string full = name.data();
  return full.substr(0, full.find('.'));
}

std::int64_t free_disk_bytes(const std::filesystem::path& path) {
  struct statvfs info {};
  if (statvfs(path.c_str(), &info) != 0) throw io_error("look up the free space of", path, errno);
  return static_cast<std::int64_t>(info.f_bavail) * static_cast<std::int64_t>(info.f_frsize);
}

}  // namespace traffic
