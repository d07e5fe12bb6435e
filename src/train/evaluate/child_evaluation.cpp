#include "evaluate/child_evaluation.h"

#include <fstream>
#include <vector>

#include "run/child_program.h"
#include "traffic/core/error.h"

namespace traffic::train {
namespace {

namespace fs = std::filesystem;

fs::path traffic_eval() {
  return fs::read_symlink("/proc/self/exe").parent_path() / "traffic_eval";
}

ProgramOutput run_traffic_eval(const std::vector<std::string>& arguments, const char* what) {
  ProgramOutput output = run_program(traffic_eval(), arguments);
  if (output.exit_code == 0 || output.stopped) return output;
  while (output.error.ends_with('\n')) output.error.pop_back();
  constexpr int kLargestCode = static_cast<int>(ExitCode::kResources);
  const bool known = output.exit_code <= kLargestCode;
  throw Error(fmt::format("{}: {}", what,
                          output.error.empty() ? fmt::format("exit code {}", output.exit_code)
                                               : output.error),
              known ? static_cast<ExitCode>(output.exit_code) : ExitCode::kWorkers);
}

}  // namespace

void check_simulation(const fs::path& config_path, const config::Config& config) {
  const double seconds = 2 * config.env.control_period_s;
  run_traffic_eval({config_path.string(), "--set", fmt::format("env.max_time_s={}", seconds),
                    "--controller", "none", "--seeds", "1", "--jobs", "1"},
                   "the health check of the simulations failed");
}

std::optional<PhaseEvaluation> evaluate_phase(const fs::path& config_path,
                                              const config::Config& config,
                                              const fs::path& checkpoint) {
  const fs::path json = config_path.parent_path() / "evaluation.json";
  std::vector<std::string> arguments{config_path.string(),
                                     "--seeds",
                                     config.evaluation.seeds,
                                     "--json",
                                     json.string(),
                                     "--csv",
                                     (config_path.parent_path() / "evaluation.csv").string()};
  for (const std::string& controller : config.evaluation.controllers) {
    arguments.insert(arguments.end(), {"--controller", controller});
  }
  arguments.insert(arguments.end(), {"--controller", "checkpoint:" + checkpoint.string()});
  const ProgramOutput output = run_traffic_eval(arguments, "the evaluation failed");
  if (output.stopped) return std::nullopt;
  std::ifstream in(json);
  return PhaseEvaluation{.table = output.out,
                         .controllers = nlohmann::ordered_json::parse(in).at("controllers")};
}

}  // namespace traffic::train
