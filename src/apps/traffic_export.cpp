/// The program traffic_export: writes trained policies as TorchScript and ONNX for other programs,
/// and records states of a simulation with which an export can be checked.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <string>
#include <variant>

#include "look_at_network.h"
#include "run_app.h"
#include "traffic/config/command_line.h"
#include "traffic/config/write.h"
#include "traffic/core/exit.h"
#include "traffic/train/evaluate/environment.h"
#include "traffic/train/export/policy_export.h"
#include "traffic/train/trainings.h"

namespace {

using namespace traffic;

struct Arguments {
  std::string checkpoint;
  std::string folder;
  std::string scenario;
  std::uint64_t seed = 1000;
  std::int64_t states = 20;
};

void say(const std::string& line) {
  std::fputs(fmt::format("traffic_export: {}\n", line).c_str(), stderr);
}

config::Program program_of(Arguments& arguments) {
  return {.name = "traffic_export",
          .description =
              "Writes the policies of a checkpoint as TorchScript and ONNX, with a table of their "
              "inputs and outputs. With --scenario it also records states of a simulation with the "
              "decisions of this program, and compares the exported networks with it.",
          .add_options =
              [&arguments](CLI::App& app) {
                app.add_option("--checkpoint", arguments.checkpoint,
                               "Checkpoint of a controller of vehicles, traffic lights or both")
                    ->type_name("FILE")
                    ->required();
                app.add_option("--out", arguments.folder, "Folder for the files; made if missing")
                    ->type_name("FOLDER")
                    ->required();
                auto* scenario = app.add_option("--scenario", arguments.scenario,
                                                "A .sumocfg, or the name of a shipped scenario, in "
                                                "which to record states")
                                     ->type_name("FILE");
                app.add_option("--states", arguments.states, "Number of states to record per agent")
                    ->check(CLI::Range(1, 100'000))
                    ->capture_default_str()
                    ->needs(scenario);
                app.add_option("--record-seed", arguments.seed, "Seed of the simulation")
                    ->capture_default_str()
                    ->needs(scenario);
              },
          .trains = false};
}

int run(const Arguments& arguments, const config::CommonOptions& options) {
  const std::string controller = "checkpoint:" + arguments.checkpoint;
  train::export_policies(arguments.checkpoint, arguments.folder);
  say(fmt::format("{} has the exported policies; policy.json describes their inputs",
                  arguments.folder));
  if (arguments.scenario.empty()) return 0;
  const train::EvaluationNames names{.controllers = {controller},
                                     .scenarios = {arguments.scenario}};
  config::Config config = train::evaluation_config(names, options, say);
  config.env = train::env_in_scenario(config.env, arguments.scenario, options, say);
  apps::look_at_network(config, names.controllers, say);
  const train::RecordedStates recorded = train::record_states({.config = config,
                                                               .checkpoint = arguments.checkpoint,
                                                               .folder = arguments.folder,
                                                               .seed = arguments.seed,
                                                               .states = arguments.states});
  say(fmt::format(
      "states.jsonl has {} states with {} decisions; the outputs of the TorchScript files differ "
      "from this program by at most {:.1e}",
      recorded.states, recorded.decisions, recorded.largest_difference));
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  exit_without_destructors(run_guarded("traffic_export", [&] {
    train::register_trainings(train::shipped_trainings());
    Arguments arguments;
    const auto parsed = config::parse_command_line(argc, argv, program_of(arguments));
    if (const auto* exit = std::get_if<config::ExitRequest>(&parsed)) {
      std::fputs(exit->text.c_str(), stdout);
      return 0;
    }
    return run(arguments, std::get<config::CommonOptions>(parsed));
  }));
}
