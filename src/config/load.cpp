#include "traffic/config/load.h"

#include <fmt/format.h>

#include <cerrno>
#include <fstream>
#include <iterator>
#include <system_error>

#include "assign.h"
#include "loader.h"
#include "traffic/config/write.h"
#include "traffic/core/error.h"

namespace traffic::config {
namespace {

namespace fs = std::filesystem;

constexpr std::uintmax_t kMaxFileBytes = 1 << 20;

std::string read_file(const fs::path& path) {
  const std::string name = path.string();
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (status.type() == fs::file_type::not_found) {
    throw ConfigError("{}: no such file; expected a configuration in TOML", name);
  }
  if (status.type() == fs::file_type::directory) {
    throw ConfigError("{}: is a folder; expected a configuration in TOML", name);
  }
  if (status.type() == fs::file_type::none) {
    throw ConfigError("{}: cannot be looked up: {}", name, error.message());
  }
  // A pipe or a device may never end.
  if (status.type() != fs::file_type::regular) {
    throw ConfigError("{}: is not a regular file; expected a configuration in TOML", name);
  }
  if (const auto size = fs::file_size(path, error); !error && size > kMaxFileBytes) {
    throw ConfigError("{}: has {} bytes; expected a configuration of 1 MiB at most", name, size);
  }
  errno = 0;
  std::ifstream in(path, std::ios::binary);
  std::string text((std::istreambuf_iterator<char>(in)), {});
  if (!in.good() && !in.eof()) {
    throw ConfigError("{}: cannot be read: {}", name, std::generic_category().message(errno));
  }
  return text;
}

/// A preset has values for each phase, so the phase that the command line asks for comes first.
void apply_overrides(Loader& loader, const Overrides& overrides) {
  for (const bool phase_pass : {true, false}) {
    if (!phase_pass && !overrides.preset.empty()) loader.apply_preset(overrides.preset);
    for (const Assignment& assignment : overrides.assignments) {
      if ((assignment.key == "run.phase") == phase_pass) loader.apply(assignment);
    }
  }
}

Plan read_plan(std::string_view text, std::string_view name, const Overrides& overrides,
               UnknownKeys unknown) {
  const auto read = [&](std::string_view phase) {
    Loader loader(phase, unknown);
    loader.read_text(text, name);
    apply_overrides(loader, overrides);
    Config config = loader.finish(!phase.empty());
    if (!phase.empty()) config.run.phase = phase;
    return config;
  };
  // Only the whole text says which phase is wanted, and so whose tables count.
  Plan plan{.whole = read({}), .phases = {}};
  if (plan.whole.run.phase != "all") {
    plan.whole = read(plan.whole.run.phase);
    plan.phases.push_back(plan.whole);
    return plan;
  }
  const std::string& resume = plan.whole.run.resume;
  if (resume != "auto" && resume != "never") {
    throw ConfigError(
        "run.resume: found {}, expected auto or never with run.phase = \"all\": a "
        "checkpoint is of one phase; give --phase, too",
        shown(resume));
  }
  for (const std::string_view phase : {"1", "2", "3"}) plan.phases.push_back(read(phase));
  for (const Config& config : plan.phases) {
    if (model_hash(config) == model_hash(plan.phases.front())) continue;
    throw ConfigError(
        "{}: [model] differs between phase 1 and phase {}; weights only fit the "
        "sizes they were trained with: give it once, outside the tables of a phase",
        name.empty() ? "--set" : name, config.run.phase);
  }
  return plan;
}

}  // namespace

Config load_config(const fs::path& path, const Overrides& overrides) {
  if (path.empty()) return parse_config("", "", overrides);
  return parse_config(read_file(path), path.string(), overrides);
}

Config parse_config(std::string_view text, std::string_view name, const Overrides& overrides) {
  return parse_plan(text, name, overrides).whole;
}

Config parse_stored_config(std::string_view text, std::string_view name,
                           const Overrides& overrides) {
  return read_plan(text, name, overrides, UnknownKeys::kArePassedOver).whole;
}

std::vector<std::string> unknown_keys(std::string_view text) {
  Loader loader({}, UnknownKeys::kArePassedOver);
  loader.read_text(text, "");
  return loader.passed_over();
}

Plan load_plan(const fs::path& path, const Overrides& overrides) {
  if (path.empty()) return parse_plan("", "", overrides);
  return parse_plan(read_file(path), path.string(), overrides);
}

Plan parse_plan(std::string_view text, std::string_view name, const Overrides& overrides) {
  return read_plan(text, name, overrides, UnknownKeys::kAreErrors);
}

Assignment parse_assignment(std::string_view text) {
  const auto equals = text.find('=');
  if (equals == std::string_view::npos) {
    throw ConfigError("--set: found {}, expected key=value, e.g. --set train.epochs=5",
                      shown(text));
  }
  std::string_view key = text.substr(0, equals);
  const auto first = key.find_first_not_of(" \t");
  key = first == std::string_view::npos
            ? std::string_view()
            : key.substr(first, key.find_last_not_of(" \t") - first + 1);
  return {"--set", std::string(key), std::string(text.substr(equals + 1))};
}

}  // namespace traffic::config
