#include "evaluate/child_evaluation.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <csignal>
#include <fstream>
#include <string_view>
#include <system_error>
#include <vector>

#include "traffic/config/write.h"
#include "traffic/core/atomic_file.h"
#include "traffic/core/error.h"
#include "traffic/core/process.h"
#include "traffic/core/signals.h"
#include "traffic/os/child_process.h"

namespace traffic::train {
namespace {

namespace fs = std::filesystem;

fs::path traffic_eval() {
  return fs::read_symlink("/proc/self/exe").parent_path() / "traffic_eval";
}

/// Logs a line that the program traffic_eval has printed, if the line reports progress.
/// @return whether the line reports progress
bool log_progress(std::string_view line) {
  constexpr std::string_view kName = "traffic_eval: ";
  if (!line.starts_with(kName) || line.find(" episodes, ") == std::string_view::npos) return false;
  spdlog::info("evaluation: {}", line.substr(kName.size()));
  return true;
}

os::ProgramOutput run_traffic_eval(const std::vector<std::string>& arguments, const char* what) {
  const fs::path program = traffic_eval();
  os::ProgramOutput output;
  const std::int64_t oom_kills_before = num_oom_kills();
  try {
    output = os::run_program(program.string(), arguments, stop_requested, log_progress);
  } catch (const std::system_error& error) {
    throw ResourceError("cannot run {}: {}; build the program traffic_eval into the same folder",
                        program.string(), error.what());
  }
  if (output.exit.well() || output.stopped) return output;
  while (output.error.ends_with('\n')) output.error.pop_back();
  constexpr int kLargestCode = static_cast<int>(ExitCode::kResources);
  const int code = output.exit.code();
  const bool known = code <= kLargestCode;
  throw Error(
      fmt::format("{}: {}", what,
                  output.error.empty() ? fmt::format("traffic_eval {}", output.exit.describe())
                                       : output.error) +
          (output.exit.signal() == SIGKILL ? memory_hint(oom_kills_before) : ""),
      known ? static_cast<ExitCode>(code) : ExitCode::kWorkers);
}

/// Lists the controllers in evaluation.controllers and the imitated scripts. The comparison with
/// these scripts shows whether the checkpoint does more than imitate one of them.
std::vector<std::string> controllers_to_compare(const config::Config& config) {
  std::vector<std::string> controllers = config.evaluation.controllers;
  if (config.imitation.iterations == 0) return controllers;
  for (const std::string& script : config.imitation.controllers) {
    if (std::ranges::find(controllers, script) == controllers.end()) controllers.push_back(script);
  }
  return controllers;
}

/// Writes the configuration again if a user has removed the run folder meanwhile. Otherwise
/// traffic_eval would report a missing file as an error of the configuration.
void restore_if_removed(const fs::path& config_path, const config::Config& config) {
  std::error_code error;
  if (fs::exists(config_path, error)) return;
  fs::create_directories(config_path.parent_path(), error);
  write_file_atomically(config_path, config::to_toml(config));
}

}  // namespace

void check_simulation(const fs::path& config_path, const config::Config& config) {
  restore_if_removed(config_path, config);
  const double seconds = 2 * config.env.control_period_s;
  run_traffic_eval({config_path.string(), "--set", fmt::format("env.max_time_s={}", seconds),
                    "--controller", "none", "--seeds", "1", "--jobs", "1"},
                   "the health check of the simulations failed");
}

std::optional<PhaseEvaluation> evaluate_phase(const fs::path& config_path,
                                              const config::Config& config,
                                              const fs::path& checkpoint) {
  restore_if_removed(config_path, config);
  const fs::path json = config_path.parent_path() / "evaluation.json";
  std::vector<std::string> arguments{config_path.string(),
                                     "--seeds",
                                     config.evaluation.seeds,
                                     "--json",
                                     json.string(),
                                     "--csv",
                                     (config_path.parent_path() / "evaluation.csv").string(),
                                     "--replay",
                                     (config_path.parent_path() / "replay").string()};
  for (const std::string& controller : controllers_to_compare(config)) {
    arguments.insert(arguments.end(), {"--controller", controller});
  }
  arguments.insert(arguments.end(), {"--controller", "checkpoint:" + checkpoint.string()});
  const os::ProgramOutput output = run_traffic_eval(arguments, "the evaluation failed");
  if (output.stopped) return std::nullopt;
  std::ifstream in(json);
  return PhaseEvaluation{.table = output.out,
                         .controllers = nlohmann::ordered_json::parse(in).at("controllers")};
}

}  // namespace traffic::train
