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

/// Of a row "Key: 7 kB" of a file of the kernel, in bytes.
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

/// A limit in a file of a control group; the largest number if there is none ("max").
std::int64_t limit_in(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::int64_t limit = 0;
  return file >> limit && limit > 0 ? limit : std::numeric_limits<std::int64_t>::max();
}

}  // namespace

std::int64_t peak_rss_bytes() {
  // VmHWM starts anew at exec; getrusage keeps the peak of a parent that forked us, so it comes
  // second.
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
  std::ifstream file("/proc/self/cgroup");
  const std::string groups((std::istreambuf_iterator<char>(file)), {});
  return std::min(total, cgroup_memory_limit_bytes("/sys/fs/cgroup", groups));
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
  // A container may be shown its own group as the root, so that is looked at in any case.
  std::int64_t least = std::min(limit_in(mount / "memory.max"),
                                limit_in(mount / "memory" / "memory.limit_in_bytes"));
  std::istringstream lines{std::string(groups)};
  for (std::string line; std::getline(lines, line);) {
    // "0::/slurm/job_7/step_0" of the second version, "4:memory:/..." of the first
    const auto first = line.find(':');
    const auto second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const bool is_second = controllers.empty();
    if (!is_second && controllers != "memory") continue;
    const std::filesystem::path root = is_second ? mount : mount / "memory";
    const char* name = is_second ? "memory.max" : "memory.limit_in_bytes";
    auto group = std::filesystem::path(line.substr(second + 1)).relative_path();
    for (; !group.empty(); group = group.parent_path()) {
      least = std::min(least, limit_in(root / group / name));
    }
  }
  return least;
}

std::vector<std::string> command_line() {
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  std::vector<std::string> words;
  for (std::string word; std::getline(file, word, '\0');) words.push_back(word);
  return words;
}

std::int64_t num_oom_kills() {
  std::ifstream counters("/proc/vmstat");
  std::string name;
  for (std::int64_t count = 0; counters >> name >> count;) {
    if (name == "oom_kill") return count;
  }
  return 0;
}

std::string memory_hint(std::int64_t oom_kills_before) {
  const std::int64_t kills = num_oom_kills() - oom_kills_before;
  if (kills <= 0) return {};
  return fmt::format(
      "; memory ran out: the kernel has ended {} processes of this machine for it (dmesg): fewer "
      "simulations, smaller batches or fewer ranks need less",
      kills);
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
