// Finds the file of a scenario, given its path or the name of a shipped scenario.
#include "traffic/sim/scenario.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <utility>

#include "traffic/core/error.h"

namespace traffic::sim {
namespace {

namespace fs = std::filesystem;

/// The folders in which shipped scenarios are looked for.
std::vector<fs::path> roots() {
  std::vector<fs::path> result;
  if (const char* dir = std::getenv("TRAFFIC_SCENARIOS")) result.emplace_back(dir);
  result.emplace_back(fs::path("configs") / "scenarios");
  result.emplace_back(TRAFFIC_SCENARIO_DIR);
  return result;
}

/// Paths of the shipped scenarios by name. If two roots have a name, the earlier root counts.
std::map<std::string, fs::path> shipped() {
  std::map<std::string, fs::path> found;
  for (const auto& root : roots()) {
    std::error_code error;
    for (const auto& folder : fs::directory_iterator(root, error))
      for (const auto& file : fs::directory_iterator(folder.path(), error))
        if (file.path().extension() == ".sumocfg")
          found.emplace(file.path().stem().string(), fs::absolute(file.path()).lexically_normal());
  }
  return found;
}

}  // namespace

std::vector<std::string> shipped_scenarios() {
  std::vector<std::string> names;
  for (const auto& [name, path] : shipped()) names.push_back(name);
  return names;
}

std::optional<fs::path> known_scenario(std::string_view name_or_path) {
  const fs::path path(name_or_path);
  std::error_code error;
  if (fs::is_regular_file(path, error)) return fs::absolute(path).lexically_normal();
  const auto known = shipped();
  const auto it = known.find(std::string(name_or_path));
  return it != known.end() ? std::optional(it->second) : std::nullopt;
}

fs::path find_scenario(std::string_view name_or_path) {
  if (auto path = known_scenario(name_or_path)) return *std::move(path);
  const std::vector<std::string> names = shipped_scenarios();
  throw DataError("scenario '{}' is neither a .sumocfg file nor a shipped scenario ({})",
                  name_or_path,
                  names.empty() ? "none found" : fmt::format("{}", fmt::join(names, ", ")));
}

}  // namespace traffic::sim
