/// The command line that all programs share.
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

/// What the options that are not in the configuration say.
struct CommonOptions {
  std::string config_path;  ///< empty: none was given
  Overrides overrides;      ///< --preset, --set, --run-dir, --seed, --resume, --phase
  bool dry_run = false;
  bool print_config = false;
};

/// The program has nothing more to do than to print `text` and end with 0 (--help, --version,
/// --help-config).
struct ExitRequest {
  std::string text;
};

struct Program {
  std::string_view name;
  std::string_view description;
  /// Adds options of this program's own; may be empty. The targets must outlive
  /// parse_command_line().
  std::function<void(CLI::App&)> add_options = {};
  /// Whether it trains, and so has --run-dir, --seed, --resume, --phase and --dry-run.
  bool trains = true;
};

/// @throws ConfigError if the command line cannot be understood
std::variant<CommonOptions, ExitRequest> parse_command_line(int argc, const char* const* argv,
                                                            const Program& program);

/// The configuration that the options ask for.
/// @throws ConfigError with one line for each thing that is wrong
Config resolve(const CommonOptions& options);
/// One for each phase that they ask for.
Plan resolve_plan(const CommonOptions& options);

}  // namespace traffic::config
