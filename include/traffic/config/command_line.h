/// Parses the command line of the programs that read a configuration: traffic_train, traffic_doctor
/// and traffic_eval.
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

/// Values of the options that these programs have in common.
struct CommonOptions {
  std::string config_path;  ///< configuration file; empty if none was given
  Overrides overrides;      ///< --preset, --set, --run-dir, --seed, --resume, --phase
  bool dry_run = false;
  bool print_config = false;
};

/// The result of --help, --version or --help-config: the program prints `text` and ends with exit
/// code 0.
struct ExitRequest {
  std::string text;
};

/// Describes a program to parse_command_line().
struct Program {
  std::string_view name;
  std::string_view description;
  /// Adds the program's own options; may be empty. The variables that receive the values of these
  /// options must outlive parse_command_line().
  std::function<void(CLI::App&)> add_options = {};
  /// Whether the program trains and has --run-dir, --seed, --resume, --phase and --dry-run.
  bool trains = true;
};

/// Parses the command line of a program.
/// @throws ConfigError if the command line cannot be understood
std::variant<CommonOptions, ExitRequest> parse_command_line(int argc, const char* const* argv,
                                                            const Program& program);

/// Loads the configuration that the options describe.
/// @throws ConfigError with one line for each error
Config resolve(const CommonOptions& options);
/// Loads the configurations of all trainings (phases) that the options name.
Plan resolve_plan(const CommonOptions& options);

}  // namespace traffic::config
