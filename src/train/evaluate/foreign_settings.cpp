#include "traffic/train/evaluate/foreign_settings.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <string_view>
#include <variant>

#include "traffic/config/scenario_mix.h"
#include "traffic/config/schema.h"
#include "traffic/config/write.h"
#include "traffic/core/error.h"
#include "traffic/sim/scenario.h"

namespace traffic::train {
namespace {

/// Texts that are only compared with others, or name a script; scenarios are looked at one by one.
constexpr std::array<std::string_view, 4> kLookedAt{"env.beside", "env.cv_types", "env.scenario",
                                                    "env.scenarios"};

bool is_free_text(const config::Row& row) {
  config::Config scratch;
  const config::Field field = row.field(scratch);
  const bool text = std::holds_alternative<std::string*>(field) ||
                    std::holds_alternative<std::vector<std::string>*>(field);
  return text && row.choices.empty();
}

bool is_shipped(const std::string& scenario) {
  const auto names = sim::shipped_scenarios();
  std::error_code error;
  // A file here of that name would be taken in its place.
  return std::ranges::find(names, scenario) != names.end() &&
         !std::filesystem::exists(scenario, error);
}

void check_texts(const config::Config& config, const std::set<std::string>& said,
                 const std::string& name) {
  const auto values = config::flatten(config);
  const auto defaults = config::flatten(config::Config{});
  for (const config::Row& row : config::schema()) {
    const std::string key(row.key);
    if (row.section() != "env" || !is_free_text(row) || said.contains(key)) continue;
    if (std::ranges::find(kLookedAt, row.key) != kLookedAt.end()) continue;
    if (values.at(key) == defaults.at(key)) continue;
    throw ConfigError(
        "{}: found {} = {}, which is not taken from a checkpoint, because it can make SUMO write "
        "files; take it with --set '{}={}', or leave it out with --set '{}={}'",
        name, key, values.at(key), key, values.at(key), key, defaults.at(key));
  }
}

}  // namespace

void refuse_foreign_settings(const config::Config& config, const std::set<std::string>& said,
                             const std::string& name) {
  check_texts(config, said, name);
  if (said.contains("env.scenario") || said.contains("env.scenarios")) return;
  for (const auto& part : config::scenario_mix(config.env)) {
    if (is_shipped(part.scenario)) continue;
    throw ConfigError(
        "{}: found the scenario '{}', expected one of {}: a file is not taken from a checkpoint, "
        "because it can make SUMO write others; take it with --scenario '{}'",
        name, part.scenario, fmt::join(sim::shipped_scenarios(), ", "), part.scenario);
  }
}

}  // namespace traffic::train
