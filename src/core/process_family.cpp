#include "traffic/core/process_family.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <sstream>
#include <string_view>
#include <system_error>
#include <utility>

namespace traffic {
namespace {

/// Those that start ranks side by side.
constexpr std::array<std::string_view, 6> kStarters{"mpirun", "orterun", "orted",
                                                    "prted",  "prterun", "slurmstepd"};

struct Stat {
  ProcessFacts process;
  int parent = 0;
};

/// /proc/PID/stat; nothing of a process that has ended meanwhile.
std::optional<Stat> stat_of(int pid) {
  std::ifstream in(fmt::format("/proc/{}/stat", pid));
  const std::string text{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  // The name is in brackets and may hold any character, brackets too.
  const auto open = text.find('(');
  const auto close = text.rfind(')');
  if (open == std::string::npos || close == std::string::npos) return std::nullopt;
  Stat stat{.process = {.pid = pid, .name = text.substr(open + 1, close - open - 1)}};
  std::istringstream fields(text.substr(close + 1));
  std::string skipped;
  std::int64_t user_ticks = 0;
  std::int64_t system_ticks = 0;
  std::int64_t pages = 0;
  fields >> stat.process.state >> stat.parent;
  for (int field = 5; field <= 13; ++field) fields >> skipped;
  fields >> user_ticks >> system_ticks;
  for (int field = 16; field <= 23; ++field) fields >> skipped;
  fields >> pages;
  if (!fields) return std::nullopt;
  stat.process.cpu_s =
      static_cast<double>(user_ticks + system_ticks) / static_cast<double>(sysconf(_SC_CLK_TCK));
  stat.process.rss_bytes = pages * sysconf(_SC_PAGESIZE);
  return stat;
}

std::map<int, Stat> all_processes() {
  std::map<int, Stat> all;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", error)) {
    const std::string name = entry.path().filename().string();
    int number = 0;
    const auto [end, wrong] = std::from_chars(name.data(), name.data() + name.size(), number);
    if (wrong != std::errc() || end != name.data() + name.size()) continue;
    if (auto stat = stat_of(number)) all.emplace(number, std::move(*stat));
  }
  return all;
}

}  // namespace

std::vector<ProcessFacts> family_of(int pid) {
  const std::map<int, Stat> all = all_processes();
  const auto self = all.find(pid);
  if (self == all.end()) return {};
  const auto parent = all.find(self->second.parent);
  const bool by_starter =
      parent != all.end() &&
      std::ranges::find(kStarters, parent->second.process.name) != kStarters.end();
  const int root = by_starter ? parent->first : pid;
  std::vector<ProcessFacts> family;
  for (const auto& [number, stat] : all) {
    // Up to the root, in fewer steps than there are processes.
    int above = number;
    for (std::size_t i = 0; i < all.size() && above != root; ++i) {
      const auto found = all.find(above);
      if (found == all.end()) break;
      above = found->second.parent;
    }
    if (above == root) family.push_back(stat.process);
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
