#include "run/foreign_settings.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>
#include <variant>
#include <vector>

#include "traffic/config/scenario_mix.h"
#include "traffic/config/schema.h"
#include "traffic/config/write.h"
#include "traffic/core/error.h"
#include "traffic/sim/scenario.h"

namespace traffic::train {
namespace {

/// Keys of [env] with texts that need no check here: they cannot make SUMO write a file, because
/// they only name a script or the terms of an objective, or are compared with other texts.
/// Scenarios are checked separately.
constexpr std::array<std::string_view, 5> kHarmless{"env.beside", "env.cv_types", "env.objective",
                                                    "env.scenario", "env.scenarios"};

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
  // If the working directory has a file of that name, the simulation would use this file instead
  // of the shipped scenario.
  return std::ranges::find(names, scenario) != names.end() &&
         !std::filesystem::exists(scenario, error);
}

/// A setting of a checkpoint that the user must give on the command line.
struct Foreign {
  std::string found;   ///< the setting in words, such as "env.sumo_args = [...]"
  std::string option;  ///< the option of traffic_eval that sets it
};

std::vector<Foreign> foreign_settings(const config::Config& config,
                                      const std::set<std::string>& given) {
  std::vector<Foreign> settings;
  if (!given.contains("env.scenario") && !given.contains("env.scenarios")) {
    for (const auto& part : config::scenario_mix(config.env)) {
      if (is_shipped(part.scenario)) continue;
      settings.push_back({.found = fmt::format("the scenario '{}'", part.scenario),
                          .option = fmt::format("--scenario '{}'", part.scenario)});
    }
  }
  const auto values = config::flatten(config);
  const auto defaults = config::flatten(config::Config{});
  for (const config::Row& row : config::schema()) {
    const std::string key(row.key);
    if (row.section() != "env" || !is_free_text(row) || given.contains(key)) continue;
    if (std::ranges::find(kHarmless, row.key) != kHarmless.end()) continue;
    if (values.at(key) == defaults.at(key)) continue;
    settings.push_back({.found = fmt::format("{} = {}", key, values.at(key)),
                        .option = fmt::format("--set '{}={}'", key, values.at(key))});
  }
  return settings;
}

std::string joined(const std::vector<Foreign>& settings, std::string Foreign::*member,
                   std::string_view separator) {
  std::string text;
  for (const Foreign& setting : settings) {
    text += fmt::format("{}{}", text.empty() ? "" : separator, setting.*member);
  }
  return text;
}

}  // namespace

void refuse_foreign_settings(const config::Config& config, const std::set<std::string>& given,
                             const std::string& name) {
  const auto settings = foreign_settings(config, given);
  if (settings.empty()) return;
  throw ConfigError(
      "{}: was trained with {}, which is not taken from a checkpoint, because it can make SUMO "
      "write files; if you trust the checkpoint, add {}; otherwise give --scenario and --set of "
      "your own "
      "(shipped scenarios: {})",
      name, joined(settings, &Foreign::found, " and "), joined(settings, &Foreign::option, " "),
      fmt::join(sim::shipped_scenarios(), ", "));
}

std::string options_of_foreign_settings(const config::Config& config) {
  const auto settings = foreign_settings(config, {});
  return settings.empty() ? "" : joined(settings, &Foreign::option, " ") + " ";
}

}  // namespace traffic::train
