/// The command line that the programs with a configuration share.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "traffic/config/config.h"
#include "traffic/config/load.h"

namespace CLI {
class App;
}

namespace traffic::config {

/// The options that all of these programs share.
struct CommonOptions {
  std::string config_path;  ///< empty: no file was given
  Overrides overrides;      ///< --preset, --set, --run-dir, --seed, --resume, --phase
  bool dry_run = false;
  bool print_config = false;
};

/// Asks the program to print `text` and to end with 0 (--help, --version, --help-config).
struct ExitRequest {
  std::string text;
};

struct Program {
  std::string_view name;
  std::string_view description;
  /// Adds options of this program; may be empty. Their targets must outlive parse_command_line().
  std::function<void(CLI::App&)> add_options = {};
  /// Whether the program trains and has --run-dir, --seed, --resume, --phase and --dry-run.
  bool trains = true;
};

/// @throws ConfigError if the command line cannot be understood
std::variant<CommonOptions, ExitRequest> parse_command_line(int argc, const char* const* argv,
                                                            const Program& program);

/// The configuration that the options ask for.
/// @throws ConfigError with one line for each thing that is wrong
Config resolve(const CommonOptions& options);
/// The configurations of the phases that the options ask for.
Plan resolve_plan(const CommonOptions& options);

}  // namespace traffic::config
