#include "traffic/config/help.h"

#include <fmt/format.h>

#include <algorithm>

#include "traffic/config/presets.h"
#include "traffic/config/schema.h"

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

constexpr std::string_view kIntroduction = R"(# Configuration

Written by `./traffic_train --help-config=markdown` from the schema in `src/config/schema.cpp`; change it there.

A configuration is a TOML file. Keys that it leaves out have their defaults. A value comes from the last of these that
has it:

1. the default,
2. the file,
3. the preset of `--preset NAME`,
4. `--set key=value`, which may be given more than once, and the options that stand for a key: `--run-dir` (`run.dir`),
   `--seed` (`run.seed`), `--resume` (`run.resume`), `--phase` (`run.phase`). These options win over `--set`.

The file is what was decided once, the command line what is decided now; so the command line wins.

A table of a phase (a training with a number), such as `[phase2.ppo]` or `--set phase2.ppo.gamma=0.9`, holds in that
phase only, whichever way it is started (`--phase 2` or `--phase all`), and wins over the same table without a phase.
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

/// Presets side by side for a training: one column a preset.
std::string markdown_presets(const TrainingFacts& training) {
  const auto names = preset_names();
  std::string text =
      fmt::format("\nWhat they set in {} (`{}`):\n\n| key | {} |\n|{}\n", training.title(),
                  training.name, fmt::join(names, " | "),
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

/// A row for each.
std::string markdown_trainings() {
  std::string text =
      "\n## Trainings\n\nWhat `run.phase` and `--phase` may name, by number or name.\n\n| number | "
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

std::string help_text() {
  struct Cells {
    std::string key;
    std::string value;
    std::string allowed;
  };
  std::vector<Cells> cells;
  std::size_t key_width = 0;
  std::size_t value_width = 0;
  std::size_t allowed_width = 0;
  for (const Row& row : schema()) {
    cells.push_back({fmt::format("  {} = ", row.name()), default_text(row), allowed_text(row)});
    key_width = std::max(key_width, cells.back().key.size());
    value_width = std::max(value_width, cells.back().value.size());
    allowed_width = std::max(allowed_width, cells.back().allowed.size());
  }
  std::string text = list_trainings() + "\nKeys with their defaults, allowed values and units.\n";
  std::string_view section;
  const auto rows = schema();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (rows[i].section() != section) {
      section = rows[i].section();
      const auto all = sections();
      const auto found =
          std::find_if(all.begin(), all.end(), [&](const Section& s) { return s.name == section; });
      text += fmt::format("\n[{}]  # {}\n", section, found->help);
    }
    text +=
        fmt::format("{:<{}}{:<{}}  {:<{}}  {}\n", cells[i].key, key_width, cells[i].value,
                    value_width, cells[i].allowed, allowed_width, without_backticks(rows[i].help));
  }
  return text;
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
