/// Reads and completes the summaries of phases, and writes the summary of a whole run. Call these
/// functions on one rank.
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "traffic/config/added_agents.h"
#include "traffic/config/trainings.h"
#include "traffic/core/error.h"
#include "traffic/train/run/job.h"

namespace traffic::train {

/// A training of a plan, and its state.
struct TrainingTask {
  const config::TrainingFacts* facts = nullptr;
  config::Config config{};
  std::filesystem::path dir{};
  std::filesystem::path config_path{};  ///< file that contains `config`
  std::int64_t retries = 0;

  /// The checkpoint with the result, from which the next training starts.
  [[nodiscard]] std::filesystem::path result() const {
    return dir / "checkpoints" / (std::string(facts->folder) + ".h5");
  }
  /// Whether the result is compared with other controllers after the training. traffic_eval does
  /// not know agents that the program has added.
  [[nodiscard]] bool is_evaluated() const {
    return facts->simulates && !config.evaluation.seeds.empty() &&
           !config::names_added_agent(config.env);
  }
};

/// Reads the phase's summary. Returns an empty object if there is none, or if it is damaged; damage
/// is logged.
nlohmann::ordered_json read_summary(const TrainingTask& task);

/// The status in the phase's summary; empty if there is none.
std::string status_of(const TrainingTask& task);

/// Adds the number of retries to the phase's summary.
void add_retries(const TrainingTask& task);
/// Adds the results of the run's searches, if there were any, to the phase's summary.
void add_search(const TrainingTask& task, const report::RunFolder& run);
/// Adds the comparison with other controllers to the phase's summary.
void add_evaluation(const TrainingTask& task, const nlohmann::ordered_json& controllers);

/// Writes summary.json of the whole run. For several phases it contains their results and sums. A
/// single phase writes its own summary; the one written here says that the run failed, or that it
/// was stopped before the training began.
void write_plan_summary(Job& job, const std::vector<TrainingTask>& tasks, const std::string& status,
                        const std::string& message, ExitCode code);

}  // namespace traffic::train
