// Writes the explanations of the configuration for --help-config (help.h).
#include "help.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <vector>

#include "presets.h"
#include "traffic/config/schema.h"
#include "traffic/core/error.h"
#include "traffic/core/text.h"
#include "traffic/core/wrap.h"

namespace traffic::config {
namespace {

std::string default_text(const Row& row) {
  Config defaults;
  return to_toml_value(row.field(defaults));
}

std::string allowed_text(const Row& row) {
  const std::string allowed = describe_allowed(row);
  if (row.unit.empty()) return allowed;
  return allowed.empty() ? std::string(row.unit) : fmt::format("{} {}", allowed, row.unit);
}

std::string without_backticks(std::string_view text) {
  std::string out(text);
  std::erase(out, '`');
  return out;
}

const Section& section_of(const Row& row) {
  return *std::ranges::find(sections(), row.section(), &Section::name);
}

std::string lower_case(std::string_view text) {
  std::string lower(text);
  std::ranges::transform(lower, lower.begin(), [](unsigned char c) { return std::tolower(c); });
  return lower;
}

/// The rows that a filter selects. A key selects its row. A table selects its rows and the rows of
/// the tables below it. Any other filter selects the rows whose key or help contains it.
std::vector<const Row*> rows_of(std::string_view filter) {
  std::vector<const Row*> in_table;
  std::vector<const Row*> with_word;
  const std::string word = lower_case(filter);
  for (const Row& row : schema()) {
    if (row.key == filter) return {&row};
    if (row.key.starts_with(fmt::format("{}.", filter))) in_table.push_back(&row);
    const bool has_word = lower_case(row.key).find(word) != std::string::npos ||
                          lower_case(row.help).find(word) != std::string::npos;
    if (has_word) with_word.push_back(&row);
  }
  return in_table.empty() ? with_word : in_table;
}

std::string suggestion(std::string_view filter) {
  std::vector<std::string_view> names;
  for (const Section& section : sections()) names.push_back(section.name);
  for (const Row& row : schema()) {
    names.push_back(row.key);
    names.push_back(row.name());
  }
  const auto near = nearest_name(filter, names);
  return near ? fmt::format("; did you mean '{}'?", *near) : std::string();
}

/// The key with its default and allowed values, and its explanation in a paragraph below.
std::string entry_text(const Row& row) {
  const std::string allowed = allowed_text(row);
  return fmt::format("  {} = {}{}\n      {}\n", row.key, default_text(row),
                     allowed.empty() ? "" : "  (" + allowed + ")", without_backticks(row.help));
}

constexpr std::string_view kIntroduction = R"(# Configuration

Written by `./traffic_train --help-config=markdown` from the schema in `src/config/schema.cpp`; change it there.

A configuration is a TOML file. Keys that it leaves out have their defaults. A value comes from the last of these
sources that sets it:

1. the default,
2. the file,
3. the preset of `--preset NAME`,
4. `--set key=value`, which may be given more than once, and the options that stand for a key: `--run-dir` (`run.dir`),
   `--seed` (`run.seed`), `--resume` (`run.resume`), `--phase` (`run.phase`). These options have precedence over
   `--set`.

The command line has precedence over the file, because the user decides it later.

A table of a phase (a training with a number), such as `[phase2.ppo]` or `--set phase2.ppo.gamma=0.9`, applies to that
phase only, whether it is started with `--phase 2` or `--phase all`. It has precedence over the same table without a
phase.
)";

constexpr std::string_view kValues = R"(
The value of `--set` is in TOML syntax; where a string is expected the quotes may be left out:
`--set train.epochs=5 --set run.name=trial --set 'data.files=["a.h5", "b.h5"]'`.

`--print-config` prints every value as a file that can be loaded again. Anything wrong with the configuration ends the
program with exit code 2 before it does anything else, with one line for each error: place, key, what was found, what
was expected. An integer may stand where a number is expected; nothing else is converted. A file has at most 1 MiB.
)";

std::string markdown_section(const Section& section) {
  std::string text = fmt::format(
      "\n## [{}]\n\n{}\n\n| key | type | default | allowed | meaning |\n| --- | --- | --- | --- | "
      "--- |\n",
      section.name, section.help);
  for (const Row& row : schema()) {
    if (row.section() != section.name) continue;
    Config defaults;
    text += fmt::format("| `{}` | {} | `{}` | {} | {} |\n", row.key, type_name(row.field(defaults)),
                        default_text(row), allowed_text(row), row.help);
  }
  return text;
}

/// The values of all presets for a training, one column for each preset.
std::string markdown_presets(const TrainingFacts& training) {
  const auto names = preset_names();
  std::string text =
      fmt::format("\nValues in {} (`{}`):\n\n| key | {} |\n|{}\n", training.title(), training.name,
                  fmt::join(names, " | "),
                  fmt::join(std::vector<std::string_view>(names.size() + 1, " --- |"), ""));
  for (const Row& row : schema()) {
    std::string cells;
    bool any = false;
    for (const std::string_view name : names) {
      const auto values = preset_values(name, training);
      const auto value = std::find_if(values.begin(), values.end(),
                                      [&](const PresetValue& v) { return v.key == row.key; });
      any = any || value != values.end();
      cells += fmt::format(" {} |", value == values.end() ? std::string_view() : value->value);
    }
    if (any) text += fmt::format("| `{}` |{}\n", row.key, cells);
  }
  return text;
}

/// A table with a row for each training.
std::string markdown_trainings() {
  std::string text =
      "\n## Trainings\n\nThe trainings that `run.phase` and `--phase` accept, by number or "
      "name.\n\n| number | "
      "name | trains | starts from | tables of its own | sections that concern it alone |\n| --- | "
      "--- | --- | --- | --- | --- |\n";
  for (const TrainingFacts& training : trainings()) {
    text += fmt::format("| {} | `{}` | {} | {} | `[{}.*]` | {} |\n", training.number, training.name,
                        training.help, fmt::join(training.starts_from, ", "), training.folder,
                        fmt::join(training.sections, ", "));
  }
  return text;
}

}  // namespace

std::string list_trainings() {
  std::string text = "Trainings, by number or name:\n";
  for (const TrainingFacts& training : trainings()) {
    text += fmt::format("  {:<3}{:<18}{}\n", training.number, training.name, training.help);
  }
  return text;
}

std::string help_text(std::string_view filter, int width) {
  const std::vector<const Row*> rows = rows_of(filter);
  if (rows.empty()) {
    throw ConfigError("--help-config: no table, key or explanation contains '{}'{}", filter,
                      suggestion(filter));
  }
  std::string text;
  if (filter.empty()) {
    text = list_trainings() +
           "\nKeys with their defaults and allowed values. --help-config WORD shows the keys of a "
           "table, one key,\nor the keys whose name or explanation contains the word.\n";
  }
  std::string_view section;
  for (const Row* row : rows) {
    if (row->section() != section) {
      section = row->section();
      text += fmt::format("{}[{}]  {}\n", text.empty() ? "" : "\n", section,
                          without_backticks(section_of(*row).help));
    }
    text += entry_text(*row);
  }
  return wrapped(text, width);
}

std::string help_markdown() {
  std::string text(kIntroduction);
  text += fmt::format("All phases of a run share `[{}]` and `[model]`.\n",
                      fmt::join(sections_of_the_whole_run(), "]`, `["));
  text += kValues;
  text += "\n## Presets\n\n";
  for (const std::string_view name : preset_names()) {
    text += fmt::format("- `{}`: {}\n", name, preset_help(name));
  }
  for (const TrainingFacts& training : trainings()) text += markdown_presets(training);
  text += markdown_trainings();
  for (const Section& section : sections()) text += markdown_section(section);
  return text;
}

}  // namespace traffic::config
