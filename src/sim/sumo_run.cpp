// Computes the options with which SUMO simulates a run.
#include "sumo_run.h"

#include "traffic/core/error.h"

namespace traffic::sim {
namespace {

/// @throws DataError for arguments that contradict the purpose of a run
void check_arguments(const SumoOptions& options) {
  for (const char* name : {"seed", "random"}) {
    if (options.is_argument(name)) {
      throw DataError(
          "SUMO's argument --{} is given, but every episode has a seed of its own: leave it out of "
          "env.sumo_args",
          name);
    }
  }
  for (const char* name :
       {"help", "version", "save-configuration", "save-template", "save-schema"}) {
    if (options.is_argument(name)) {
      throw DataError(
          "with the argument --{} SUMO does not simulate: leave it out of env.sumo_args", name);
    }
  }
}

}  // namespace

std::map<std::string, std::string> options_of(const SumoRun& run, const SumoOptions& options) {
  check_arguments(options);
  std::map<std::string, std::string> all = options.of_simulation();
  all["seed"] = std::to_string(run.seed & 0x7fffffffU);  // SUMO's seeds have 31 bits
  all.erase("random");
  all["no-step-log"] = "true";
  all["no-warnings"] = "true";
  all["duration-log.disable"] = "true";
  all["xml-validation"] = "never";
  // With SUMO's default of two decimals vehicles would stand elsewhere than when they were saved.
  all.try_emplace("save-state.precision", "16");
  if (run.demand_factor != 1.0) {
    all["scale"] = fmt::format("{}", options.number("scale").value_or(1.0) * run.demand_factor);
  }
  for (const auto& [name, value] : run.settings) all[name] = value;
  return all;
}

}  // namespace traffic::sim
