// Writes a configuration as TOML, as a table, and as a hash (write.h).
#include "traffic/config/write.h"

#include <fmt/format.h>

#include "traffic/config/schema.h"
#include "traffic/config/trainings.h"
#include "traffic/core/hash.h"

namespace traffic::config {
namespace {

/// The values of a section as lines of TOML. The function copies the Config, because the accessor
/// of a row needs a Config that is not const.
std::string section_lines(std::string_view section, Config config) {
  std::string text = fmt::format("[{}]\n", section);
  for (const Row& row : schema()) {
    if (row.section() != section) continue;
    text += fmt::format("{} = {}\n", row.name(), to_toml_value(row.field(config)));
  }
  return text;
}

}  // namespace

std::string to_toml(const Config& config) {
  std::string text;
  for (const Section& section : sections()) {
    if (!text.empty()) text += '\n';
    text += section_lines(section.name, config);
  }
  return text;
}

std::string to_toml(const Plan& plan) {
  std::string text = to_toml(plan.whole);
  const auto shared = flatten(plan.whole);
  for (const Config& phase : plan.phases) {
    Config copy = phase;
    std::string_view section;
    for (const Row& row : schema()) {
      const std::string value = to_toml_value(row.field(copy));
      if (row.key == "run.phase" || value == shared.at(std::string(row.key))) continue;
      if (row.section() != section) {
        section = row.section();
        text += fmt::format("\n[{}.{}]\n", get_training(phase.run.phase).folder, section);
      }
      text += fmt::format("{} = {}\n", row.name(), value);
    }
  }
  return text;
}

std::map<std::string, std::string> flatten(const Config& config) {
  Config copy = config;
  std::map<std::string, std::string> values;
  for (const Row& row : schema()) values.emplace(row.key, to_toml_value(row.field(copy)));
  return values;
}

std::uint64_t model_hash(const Config& config) { return xxh3_64(section_lines("model", config)); }

}  // namespace traffic::config
