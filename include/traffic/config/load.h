/// Makes a checked Config from a file and the command line.
///
/// A value is taken from the last of these sources that has it: the defaults, the file, the preset,
/// the assignments in their order. A table of a phase, such as [phase2.ppo], counts as written
/// after the other tables if this phase is trained; otherwise it is only checked. A preset and
/// --set have precedence over the file because the user decides them later.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "traffic/config/config.h"

namespace traffic::config {

/// key = value from the command line. The value is in TOML syntax; where a string is expected, or a
/// list of strings with one item, quotes may be left out.
struct Assignment {
  std::string source;  ///< for messages: "--set", "--seed"
  std::string key;
  std::string value;
};

struct Overrides {
  std::string preset = {};  ///< empty: none
  std::vector<Assignment> assignments = {};
};

/// @param path a TOML file, or empty for defaults and overrides only
/// @throws ConfigError with one line for each thing that is wrong: where, key, found, expected
Config load_config(const std::filesystem::path& path, const Overrides& overrides = {});

/// The same for a text; `name` stands for the file in messages.
Config parse_config(std::string_view text, std::string_view name, const Overrides& overrides = {});

/// Reads a configuration that this or an earlier version stored in a checkpoint. Unknown keys and
/// tables, which were renamed or removed since, are ignored; unknown_keys() lists them. All other
/// checks, including those of the overrides, are those of parse_config().
Config parse_stored_config(std::string_view text, std::string_view name,
                           const Overrides& overrides = {});

/// The unknown keys and tables of a text, in their order.
std::vector<std::string> unknown_keys(std::string_view text);

/// One configuration for each phase of a run, in their order. `whole` holds the values that they
/// share, without tables of single phases such as [phase2.ppo].
struct Plan {
  Config whole;
  std::vector<Config> phases;
};

/// Like load_config() and parse_config(), but for all phases.
Plan load_plan(const std::filesystem::path& path, const Overrides& overrides = {});
Plan parse_plan(std::string_view text, std::string_view name, const Overrides& overrides = {});

/// Splits "a.b=value" of --set.
/// @throws ConfigError if there is no '='
Assignment parse_assignment(std::string_view text);

}  // namespace traffic::config
