/// Makes a checked Config from a file and the command line.
///
/// The value of a key comes from the last of these sources that sets it: the defaults, the file,
/// the preset, the assignments in their order. A table of a phase (training), such as [phase2.ppo],
/// counts as written after the other tables if this phase is trained. Otherwise it is only checked.
/// A preset and --set have precedence over the file because the user decides them later.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "traffic/config/config.h"

namespace traffic::config {

/// "key = value" of the command line. The value is in TOML syntax. If a string is expected, or a
/// list of strings with one item, quotes may be left out.
struct Assignment {
  std::string source;  ///< for messages: "--set", "--seed"
  std::string key;
  std::string value;
};

/// What the command line changes in a configuration.
struct Overrides {
  std::string preset = {};  ///< empty if no preset was chosen
  std::vector<Assignment> assignments = {};
};

/// @param path a TOML file, or empty for defaults and overrides only
/// @throws ConfigError with one line for each error: the place, the key, what was found, and what
///   was expected
Config load_config(const std::filesystem::path& path, const Overrides& overrides = {});

/// Parses a text instead of a file. Messages contain `name` in the place of the file's name.
Config parse_config(std::string_view text, std::string_view name, const Overrides& overrides = {});

/// Reads a configuration that this or an earlier version stored in a checkpoint. Ignores unknown
/// keys and tables, because later versions may have renamed or removed them; unknown_keys() lists
/// them. Apart from that it checks the text and the overrides like parse_config().
Config parse_stored_config(std::string_view text, std::string_view name,
                           const Overrides& overrides = {});

/// The unknown keys and tables of a text, in the order of the text.
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
