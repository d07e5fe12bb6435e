// Loader: collects the values of all sources in a Config and lists their errors (loader.h).
#include "loader.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "contradictions.h"
#include "moved_keys.h"
#include "presets.h"
#include "traffic/core/error.h"
#include "traffic/core/text.h"

namespace traffic::config {
namespace {

/// Maximum number of errors that are listed; further errors are only counted.
constexpr std::size_t kMaxLines = 50;

/// A key, and the training if the key is in the table of a training.
struct KeyOfTraining {
  const TrainingFacts* of;  ///< e.g. phase 2 for phase2.ppo.gamma; null means all trainings
  std::string_view key;     ///< the key without the training's name; empty for the table phase2
};

KeyOfTraining split_training(std::string_view key) {
  for (const TrainingFacts& training : trainings()) {
    if (!key.starts_with(training.folder)) continue;
    const std::string_view rest = key.substr(training.folder.size());
    if (rest.empty()) return {&training, {}};
    if (rest.front() == '.') return {&training, rest.substr(1)};
  }
  return {nullptr, key};
}

bool is_of_the_whole_run(const Row& row) {
  const auto shared = sections_of_the_whole_run();
  return std::ranges::find(shared, row.section()) != shared.end();
}

bool is_section(std::string_view key) {
  const auto [training, inner] = split_training(key);
  if (training != nullptr && inner.empty()) return true;
  const auto all = sections();
  return std::any_of(all.begin(), all.end(),
                     [&, inner = inner](const Section& s) { return s.name == inner; });
}

/// Whether a training uses a section. If some trainings list the section as their own, only these
/// trainings use it. All trainings use every other section.
bool concerns(std::string_view section, const TrainingFacts& training) {
  const auto names_it = [&](const TrainingFacts& other) {
    return std::ranges::find(other.sections, section) != other.sections.end();
  };
  return names_it(training) || std::ranges::none_of(trainings(), names_it);
}

/// The key that was probably meant instead of an unknown one: a key of the same name in another
/// table, or a key of similar spelling.
std::optional<std::string_view> nearest_key(std::string_view key) {
  const std::string_view name = key.substr(key.rfind('.') + 1);
  std::vector<std::string_view> keys;
  std::vector<std::string_view> same_name;
  for (const Row& row : schema()) {
    keys.push_back(row.key);
    if (row.name() == name) same_name.push_back(row.key);
  }
  if (same_name.size() == 1) return same_name.front();
  return nearest_name(key, keys);
}

std::optional<std::string_view> nearest_section(std::string_view key) {
  std::vector<std::string_view> names;
  for (const Section& section : sections()) names.push_back(section.name);
  return nearest_name(key, names);
}

bool is_string(const Field& field) { return std::holds_alternative<std::string*>(field); }
bool is_list_of_strings(const Field& field) {
  return std::holds_alternative<std::vector<std::string>*>(field);
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlanks = " \t";
  const auto first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

/// Reads a value of the command line, where a string may stand without quotes.
std::variant<Value, SyntaxError> read_argument(const Field& field, std::string_view text) {
  auto value = read_toml_value(text);
  const bool is_toml = std::holds_alternative<Value>(value);
  const bool quoted = text.starts_with('"') || text.starts_with('\'');
  if (is_string(field) && !quoted) return read_toml_value(quote(text));
  if (is_list_of_strings(field) && !is_toml && !quoted && !text.starts_with('[')) {
    return read_toml_value(fmt::format("[{}]", quote(text)));
  }
  return value;
}

}  // namespace

void Loader::problem(const std::string& source, std::string_view key, std::string_view what) {
  if (++problems_ > kMaxLines) return;
  lines_.push_back(key.empty() ? fmt::format("{}: {}", source, what)
                               : fmt::format("{}: {}: {}", source, key, what));
}

std::string Loader::unknown(std::string_view full_key, bool is_table) const {
  const auto [training, key] = split_training(full_key);
  if (const std::string moved = new_name_of(key); !moved.empty()) {
    return training == nullptr ? "has moved to " + moved
                               : fmt::format("has moved to {}.{}", training->folder, moved);
  }
  std::string text = is_table ? "unknown table" : "unknown key";
  if (problems_ >= kMaxLines) return text;  // the message will not be shown
  if (const auto near = is_table ? nearest_section(key) : nearest_key(key)) {
    text += fmt::format("; did you mean '{}'?", *near);
  } else {
    text += is_table ? "; see --help-config for all tables" : "; see --help-config for all keys";
  }
  return text;
}

void Loader::set(const Row& row, const Value& value, const std::string& source,
                 const TrainingFacts* of) {
  if (of != nullptr && is_of_the_whole_run(row)) {
    problem(source, row.key, "is the same for all phases; give it outside the tables of a phase");
    return;
  }
  if (of != nullptr && !concerns(row.section(), *of)) {
    problem(source, row.key,
            fmt::format("does not concern {}, {}; give it in the table of a training that uses it, "
                        "or outside the tables of trainings",
                        of->title(), of->name));
    return;
  }
  if (of != nullptr && of != training_) {
    Config scratch = config_;
    if (const auto what = assign(row, value, scratch)) problem(source, row.key, *what);
    return;
  }
  origins_[row.key] = {source, ++values_read_};
  if (const auto what = assign(row, value, config_)) {
    broken_.insert(row.key);
    problem(source, row.key, *what);
  }
}

void Loader::read_entry(const Entry& entry, std::string_view name) {
  const auto place = [&](const std::string& at) { return fmt::format("{}:{}", name, at); };
  const auto [training, key] = split_training(entry.key);
  if (const Row* row = find_row(key)) {
    set(*row, entry.value, place(entry.is_table ? entry.key_place : entry.value_place), training);
  } else if (is_section(entry.key)) {
    problem(place(entry.value_place), entry.key,
            fmt::format("found {}, expected a table", entry.value.type));
  } else if (unknown_ == UnknownKeys::kArePassedOver) {
    passed_over_.push_back(printable(entry.key));
  } else {
    problem(place(entry.key_place), printable(entry.key), unknown(entry.key, entry.is_table));
  }
}

void Loader::read_text(std::string_view text, std::string_view name) {
  auto parsed = read_toml(text, is_section);
  if (const auto* error = std::get_if<SyntaxError>(&parsed)) {
    problem(fmt::format("{}:{}", name, error->place), "", error->message);
    return;
  }
  for (const bool of_trainings : {false, true}) {
    for (const Entry& entry : std::get<std::vector<Entry>>(parsed)) {
      if ((split_training(entry.key).of != nullptr) != of_trainings) continue;
      if (!entry.is_table || !is_section(entry.key)) read_entry(entry, name);
    }
  }
}

void Loader::apply_preset(std::string_view preset) {
  const auto names = preset_names();
  if (std::find(names.begin(), names.end(), preset) == names.end()) {
    std::string what =
        fmt::format("found {}, expected one of {}", shown(preset), fmt::join(names, ", "));
    if (const auto near = nearest_name(preset, names)) {
      what += fmt::format("; did you mean '{}'?", *near);
    }
    problem("--preset", "", what);
    return;
  }
  const TrainingFacts* training =
      training_ != nullptr ? training_ : find_training(config_.run.phase);
  if (training == nullptr) return;  // run.phase names several trainings
  for (const PresetValue& value : preset_values(preset, *training)) {
    apply({fmt::format("--preset {}", preset), std::string(value.key), std::string(value.value)});
  }
}

void Loader::apply(const Assignment& assignment) {
  const auto [training, key] = split_training(assignment.key);
  const Row* row = find_row(key);
  if (row == nullptr) {
    const bool is_table = is_section(assignment.key);
    problem(assignment.source, printable(assignment.key),
            is_table ? "is a table; expected a key in it" : unknown(assignment.key, false));
    return;
  }
  const auto value = read_argument(row->field(config_), trimmed(assignment.value));
  if (const auto* error = std::get_if<SyntaxError>(&value)) {
    broken_.insert(row->key);
    problem(assignment.source, row->key,
            fmt::format("found {}, expected {}: {}", shown(assignment.value),
                        with_article(type_name(row->field(config_))), error->message));
    return;
  }
  set(*row, std::get<Value>(value), assignment.source, training);
  // A scenario on the command line replaces the list of scenarios in a file.
  const bool is_used = training == nullptr || training == training_;
  if (row->key == "env.scenario" && is_used) config_.env.scenarios.clear();
}

void Loader::check_contradictions() {
  for (const Contradiction& contradiction : find_contradictions(config_)) {
    const Origin* latest = nullptr;
    bool sound = true;
    for (const std::string_view key : contradiction.keys) {
      sound = sound && !broken_.contains(key);
      const auto origin = origins_.find(key);
      if (origin == origins_.end()) continue;
      if (latest == nullptr || origin->second.order > latest->order) latest = &origin->second;
    }
    if (!sound) continue;
    TRAFFIC_CHECK(latest != nullptr, "the defaults contradict themselves: {}: {}",
                  contradiction.keys.front(), contradiction.message);
    problem(latest->source, contradiction.keys.front(), contradiction.message);
  }
}

/// The lights learn with the settings of [ppo], except for the keys of [lights.ppo] that were set.
void Loader::complete_lights_ppo() {
  Config given = config_;
  config_.lights.ppo = config_.ppo;
  for (const Row& row : schema()) {
    if (row.section() != "lights.ppo" || !origins_.contains(row.key)) continue;
    std::visit([&](auto* to) { *to = *std::get<decltype(to)>(row.field(given)); },
               row.field(config_));
  }
}

Config Loader::finish(bool whole) {
  complete_lights_ppo();
  if (whole) check_contradictions();
  if (problems_ == 0) return config_;
  if (problems_ > kMaxLines) {
    lines_.push_back(fmt::format("... and {} more errors", problems_ - kMaxLines));
  }
  throw ConfigError(fmt::format("{}", fmt::join(lines_, "\n")));
}

}  // namespace traffic::config
