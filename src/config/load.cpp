// Makes a checked Config from a file and the command line (load.h).
#include "traffic/config/load.h"

#include <fmt/format.h>

#include <cerrno>
#include <fstream>
#include <iterator>
#include <system_error>

#include "assign.h"
#include "loader.h"
#include "traffic/config/trainings.h"
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
  // Other files, such as pipes and devices, might never end.
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

/// Applies the assignments of the command line and the preset. Assignments to run.phase come first,
/// because the values of a preset depend on the training.
void apply_overrides(Loader& loader, const Overrides& overrides) {
  for (const bool plan_pass : {true, false}) {
    if (!plan_pass && !overrides.preset.empty()) loader.apply_preset(overrides.preset);
    for (const Assignment& assignment : overrides.assignments) {
      if ((assignment.key == "run.phase") == plan_pass) loader.apply(assignment);
    }
  }
}

/// Reads the text once without the tables of trainings, to learn which trainings run.phase names,
/// and then once for each of these trainings.
class PlanReader {
 public:
  PlanReader(std::string_view text, std::string_view name, const Overrides& overrides,
             UnknownKeys unknown)
      : text_(text), name_(name), overrides_(overrides), unknown_(unknown) {}

  Plan read() const {
    Plan plan{.whole = read_for(nullptr), .phases = {}};
    const auto wanted =
        trainings().empty() ? std::vector<const TrainingFacts*>{} : plan_of(plan.whole.run.phase);
    if (wanted.size() == 1) {
      plan.whole = read_for(wanted.front());
      plan.phases.push_back(plan.whole);
      return plan;
    }
    for (const TrainingFacts* training : wanted) plan.phases.push_back(read_for(training));
    if (plan.whole.run.phase != "all") plan.whole.run.phase = keys_of(wanted);
    check_parts(plan);
    return plan;
  }

 private:
  Config read_for(const TrainingFacts* training) const {
    Loader loader(training, unknown_);
    loader.read_text(text_, name_);
    apply_overrides(loader, overrides_);
    Config config = loader.finish(training != nullptr);
    if (training != nullptr) config.run.phase = training->key();
    return config;
  }

  // The value of run.phase for these trainings. It is the same whether the user wrote names or
  // numbers.
  static std::string keys_of(const std::vector<const TrainingFacts*>& wanted) {
    std::string text;
    for (const TrainingFacts* training : wanted) {
      text += fmt::format("{}{}", text.empty() ? "" : ",", training->key());
    }
    return text;
  }

  void check_parts(const Plan& plan) const {
    const std::string& resume = plan.whole.run.resume;
    if (!plan.phases.empty() && resume != "auto" && resume != "must" && resume != "never") {
      throw ConfigError(
          "run.resume: found {}, expected auto, must or never with run.phase = \"{}\": a "
          "checkpoint belongs to one phase; name that phase with --phase",
          shown(resume), plan.whole.run.phase);
    }
    for (const Config& config : plan.phases) {
      if (model_hash(config) == model_hash(plan.phases.front())) continue;
      throw ConfigError(
          "{}: [model] differs between phase {} and phase {}, but weights only fit the sizes with "
          "which they were trained: give [model] once, outside the tables of a phase",
          name_.empty() ? "--set" : name_, plan.phases.front().run.phase, config.run.phase);
    }
  }

  std::string_view text_;
  std::string_view name_;
  const Overrides& overrides_;
  UnknownKeys unknown_;
};

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
  return PlanReader(text, name, overrides, UnknownKeys::kArePassedOver).read().whole;
}

std::vector<std::string> unknown_keys(std::string_view text) {
  Loader loader(nullptr, UnknownKeys::kArePassedOver);
  loader.read_text(text, "");
  return loader.passed_over();
}

Plan load_plan(const fs::path& path, const Overrides& overrides) {
  if (path.empty()) return parse_plan("", "", overrides);
  return parse_plan(read_file(path), path.string(), overrides);
}

Plan parse_plan(std::string_view text, std::string_view name, const Overrides& overrides) {
  return PlanReader(text, name, overrides, UnknownKeys::kAreErrors).read();
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
