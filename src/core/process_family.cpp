// Finds the processes of a run on this machine (process_family.h).
#include "traffic/core/process_family.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string_view>
#include <system_error>
#include <utility>

#include "traffic/os/process_id.h"

namespace traffic {
namespace {

/// Programs that start the ranks of a job.
constexpr std::array<std::string_view, 6> kStarters{"mpirun", "orterun", "orted",
                                                    "prted",  "prterun", "slurmstepd"};

std::map<int, os::ProcessStat> all_processes() {
  std::map<int, os::ProcessStat> all;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", error)) {
    const std::string name = entry.path().filename().string();
    int number = 0;
    const auto [end, wrong] = std::from_chars(name.data(), name.data() + name.size(), number);
    if (wrong != std::errc() || end != name.data() + name.size()) continue;
    if (auto stat = os::process_stat(number)) all.emplace(number, std::move(*stat));
  }
  return all;
}

ProcessFacts facts_of(int pid, const os::ProcessStat& stat) {
  return {.pid = pid,
          .name = stat.name,
          .state = stat.state,
          .rss_bytes = stat.resident_pages * sysconf(_SC_PAGESIZE),
          .cpu_s = static_cast<double>(stat.cpu_ticks) / static_cast<double>(sysconf(_SC_CLK_TCK))};
}

}  // namespace

std::vector<ProcessFacts> family_of(int pid) {
  const std::map<int, os::ProcessStat> all = all_processes();
  const auto self = all.find(pid);
  if (self == all.end()) return {};
  const auto parent = all.find(self->second.parent);
  const bool by_starter =
      parent != all.end() && std::ranges::find(kStarters, parent->second.name) != kStarters.end();
  const int root = by_starter ? parent->first : pid;
  std::vector<ProcessFacts> family;
  for (const auto& [number, stat] : all) {
    // Follows the parents up to `root`, in at most as many steps as there are processes.
    int above = number;
    for (std::size_t i = 0; i < all.size() && above != root; ++i) {
      const auto found = all.find(above);
      if (found == all.end()) break;
      above = found->second.parent;
    }
    if (above == root) family.push_back(facts_of(number, stat));
  }
  return family;
}

std::int64_t own_share_bytes(int pid) {
  std::ifstream in(fmt::format("/proc/{}/smaps_rollup", pid));
  for (std::string line; std::getline(in, line);) {
    std::istringstream fields(line);
    std::string name;
    std::int64_t kb = 0;
    if (fields >> name >> kb && name == "Pss:") return kb * 1024;
  }
  return 0;
}

}  // namespace traffic
