#include "traffic/train/evaluate/environment.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <set>

#include "policy/policy_controller.h"
#include "run/foreign_settings.h"
#include "traffic/config/controller_spec.h"
#include "traffic/config/scenario_mix.h"
#include "traffic/config/write.h"
#include "traffic/sim/scenario.h"

namespace traffic::train {
namespace {

/// The configuration keys that the command line sets.
std::set<std::string> said_by_user(const EvaluationNames& names,
                                   const config::CommonOptions& options) {
  std::set<std::string> keys;
  for (const auto& assignment : options.overrides.assignments) keys.insert(assignment.key);
  if (!names.scenarios.empty()) keys.insert("env.scenario");
  return keys;
}

/// Settings of the environment that differ between a controller's training and this evaluation,
/// without those that the command line sets.
std::vector<std::string> other_settings(const config::Config& trained,
                                        const config::Config& evaluated,
                                        const EvaluationNames& names,
                                        const config::CommonOptions& options) {
  const auto here = config::flatten(evaluated);
  std::vector<std::string> keys;
  for (const auto& [key, value] : config::flatten(trained)) {
    const bool of_scenario = key.starts_with("env.scenario");
    if (!key.starts_with("env.") || here.at(key) == value || is_set(options, key)) continue;
    if (of_scenario && (!names.scenarios.empty() || is_set(options, "env.scenario"))) continue;
    keys.push_back(key);
  }
  return keys;
}

}  // namespace

bool is_set(const config::CommonOptions& options, std::string_view key) {
  return std::ranges::any_of(options.overrides.assignments,
                             [&](const auto& one) { return one.key == key; });
}

config::Config evaluation_config(const EvaluationNames& names, const config::CommonOptions& options,
                                 const Say& say) {
  std::optional<config::Config> chosen;
  if (!options.config_path.empty()) chosen = config::resolve(options);
  std::string first;
  for (const std::string& name : config::controller_parts(names.controllers)) {
    const auto file = checkpoint_name(name);
    if (!file) continue;
    const auto trained =
        settings_of_checkpoint(file->path, chosen ? config::Overrides{} : options.overrides);
    if (!trained.unknown.empty()) {
      say(fmt::format("{} was made with settings that this version does not know: {}", name,
                      fmt::join(trained.unknown, ", ")));
    }
    if (!chosen) {
      refuse_foreign_settings(trained.config, said_by_user(names, options), name);
      chosen = trained.config;
      first = name;
    } else if (!first.empty()) {
      const auto other = other_settings(trained.config, *chosen, names, options);
      if (other.empty()) continue;
      say(fmt::format(
          "all controllers are evaluated in the environment of {}; {} was trained with another {}",
          first, name, fmt::join(other, ", ")));
    }
  }
  return chosen ? *chosen : config::resolve(options);
}

config::Env env_in_scenario(const config::Env& env, const std::string& scenario,
                            const config::CommonOptions& options, const Say& say) {
  config::Env here = env;
  here.scenario = scenario;
  here.scenarios.clear();
  const bool is_length_said = !options.config_path.empty() || is_set(options, "env.max_time_s");
  const auto file = sim::known_scenario(scenario);
  const auto parts = config::scenario_mix(env);
  const bool is_known = std::ranges::any_of(
      parts, [&](const auto& part) { return sim::known_scenario(part.scenario) == file; });
  if (is_length_said || env.max_time_s == 0 || is_known) return here;
  say(fmt::format(
      "{} is simulated to its own end, but in training an episode lasted {:.0f} s; for the same "
      "length add --set env.max_time_s={:.0f}",
      scenario, env.max_time_s, env.max_time_s));
  here.max_time_s = 0;
  return here;
}

}  // namespace traffic::train
