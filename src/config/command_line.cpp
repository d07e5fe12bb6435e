// Parses the command line of programs that read a configuration (command_line.h).
#include "traffic/config/command_line.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "help.h"
#include "presets.h"
#include "traffic/config/option_help.h"
#include "traffic/core/error.h"
#include "traffic/core/version.h"
#include "traffic/core/wrap.h"

namespace traffic::config {
namespace {

/// A command line option that sets a key of the configuration.
struct KeyOption {
  std::string_view option;
  std::string_view key;
  std::string_view value_name;
  std::string_view help;
  std::string value = {};
  CLI::Option* parsed = nullptr;
};

std::vector<KeyOption> key_options() {
  return {
      {"--run-dir", "run.dir", "DIR", "Folder of the run; by default runs/<name>/<time>"},
      {"--seed", "run.seed", "N", "Seed of all random numbers"},
      {"--resume", "run.resume", "auto|must|never|PATH",
       "Where to begin: auto continues from the newest checkpoint of the folder if there is one, "
       "must fails without one, never starts anew, PATH names a checkpoint"},
      {"--phase", "run.phase", "NAME,...",
       "Trainings to run, by number or name; all means those with a number; by default the first"},
  };
}

std::string help_config_text(const std::string& filter) {
  return filter == "markdown" ? help_markdown() : help_text(filter, output_width());
}

}  // namespace

std::variant<CommonOptions, ExitRequest> parse_command_line(int argc, const char* const* argv,
                                                            const Program& program) {
  CommonOptions options;
  std::vector<KeyOption> keys = program.trains ? key_options() : std::vector<KeyOption>{};
  std::vector<std::string> assignments;
  std::string help_config;

  CLI::App app{std::string(program.description), std::string(program.name)};
  app.add_option("config", options.config_path, "Configuration in TOML")->type_name("FILE");
  for (KeyOption& key : keys) {
    key.parsed = app.add_option(std::string(key.option), key.value, std::string(key.help))
                     ->type_name(std::string(key.value_name));
  }
  app.add_option(
         "--preset", options.overrides.preset,
         fmt::format("Set of values for a purpose, one of {}", fmt::join(preset_names(), ", ")))
      ->type_name("NAME");
  // Each --set takes one value: the argument after it may be the configuration file.
  app.add_option("--set", assignments, "Set a key, e.g. --set train.epochs=5; repeatable")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
  if (program.trains) {
    app.add_flag("--dry-run", options.dry_run, "Check everything, then end without training");
  }
  app.add_flag("--print-config", options.print_config, "Print all values in TOML and end");
  const auto* help_option =
      app.add_option("--help-config", help_config,
                     "Explain all keys of the configuration and end; with WORD only the keys of a "
                     "table (ppo), one key (ppo.gamma), or the keys whose explanation has the "
                     "word; markdown: the reference page")
          ->type_name("[WORD]")
          ->expected(0, 1);
  if (program.trains) app.footer(list_trainings());
  app.set_version_flag("--version", fmt::format("{} {}", program.name, version()));
  if (program.add_options) program.add_options(app);

  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    return ExitRequest{option_help(app)};
  } catch (const CLI::CallForVersion&) {
    return ExitRequest{app.version() + "\n"};
  } catch (const CLI::ParseError& error) {
    throw ConfigError("{}; see {} --help", error.what(), program.name);
  }
  if (help_option->count() > 0) return ExitRequest{help_config_text(help_config)};

  for (const std::string& text : assignments) {
    options.overrides.assignments.push_back(parse_assignment(text));
  }
  for (const KeyOption& key : keys) {
    if (key.parsed->count() == 0) continue;
    options.overrides.assignments.push_back(
        {std::string(key.option), std::string(key.key), key.value});
  }
  return options;
}

Config resolve(const CommonOptions& options) {
  return load_config(options.config_path, options.overrides);
}

Plan resolve_plan(const CommonOptions& options) {
  return load_plan(options.config_path, options.overrides);
}

}  // namespace traffic::config
