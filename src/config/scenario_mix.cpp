// The scenarios of a training and their shares, from env.scenario and env.scenarios.
#include "traffic/config/scenario_mix.h"

#include <charconv>
#include <cmath>
#include <filesystem>
#include <optional>

#include "traffic/core/error.h"

namespace traffic::config {
namespace {

/// Splits "scenario:weight" at the last colon; without a colon the weight is 1.
std::optional<ScenarioShare> parse(std::string_view entry) {
  const std::size_t colon = entry.rfind(':');
  ScenarioShare parsed{.scenario = std::string(entry.substr(0, colon))};
  if (colon != std::string_view::npos) {
    const std::string_view weight = entry.substr(colon + 1);
    const char* last = weight.data() + weight.size();
    const auto [end, error] = std::from_chars(weight.data(), last, parsed.share);
    if (error != std::errc() || end != last) return std::nullopt;
  }
  if (parsed.scenario.empty() || !std::isfinite(parsed.share) || parsed.share <= 0.0) {
    return std::nullopt;
  }
  return parsed;
}

}  // namespace

std::string scenario_name(const std::string& scenario) {
  return std::filesystem::path(scenario).stem().string();
}

std::string refuse_scenario_entry(std::string_view entry) {
  return parse(entry) ? "" : "expected a scenario, or scenario:weight with a weight above 0";
}

std::vector<ScenarioShare> scenario_mix(const Env& env) {
  if (env.scenarios.empty()) return {{.scenario = env.scenario}};
  std::vector<ScenarioShare> mix;
  double sum = 0.0;
  for (const std::string& entry : env.scenarios) {
    const auto parsed = parse(entry);
    if (!parsed) {
      throw ConfigError("env.scenarios: found '{}', {}", entry, refuse_scenario_entry(entry));
    }
    sum += parsed->share;
    mix.push_back(*parsed);
  }
  for (ScenarioShare& part : mix) part.share /= sum;
  return mix;
}

}  // namespace traffic::config
