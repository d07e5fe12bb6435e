/// Functions for summary.json, the file with the results of a run. Each phase (training) of a run
/// writes such a file, and a run of several phases has one more for all of them. Call these
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

/// One training (phase) of a run, and its state.
struct TrainingTask {
  const config::TrainingFacts* facts = nullptr;
  config::Config config{};
  std::filesystem::path dir{};          ///< folder of the phase
  std::filesystem::path config_path{};  ///< file that contains `config`
  std::int64_t retries = 0;             ///< number of retries after failures so far
  bool has_ended = false;               ///< this job has trained it to its end or to a stop

  /// The checkpoint with the result, from which the next training starts.
  [[nodiscard]] std::filesystem::path result() const {
    return dir / "checkpoints" / (std::string(facts->folder) + ".h5");
  }
  /// Whether traffic_eval compares the result with other controllers after the training. This is
  /// impossible if env.agents names an agent that this program has added, because traffic_eval does
  /// not know that agent.
  [[nodiscard]] bool is_evaluated() const {
    return facts->simulates && !config.evaluation.seeds.empty() &&
           !config::names_added_agent(config.env);
  }
};

/// Reads the phase's summary. Returns an empty object if the file does not exist or is damaged, and
/// logs damage.
nlohmann::ordered_json read_summary(const TrainingTask& task);

/// The status in the phase's summary; empty if the phase has no summary.
std::string status_of(const TrainingTask& task);

/// Adds the number of retries to the phase's summary.
void add_retries(const TrainingTask& task);
/// Adds the results of the run's searches, if there were any, to the phase's summary.
void add_search(const TrainingTask& task, const report::RunFolder& run);
/// Adds the comparison with other controllers to the phase's summary.
void add_evaluation(const TrainingTask& task, const nlohmann::ordered_json& controllers);

/// Marks the phase's summary as failed and keeps its results. Call it for a run of one phase whose
/// training ended, but whose evaluation failed.
void add_failure(const TrainingTask& task, const std::string& message, ExitCode code);

/// Writes summary.json of the whole run. If the run has several phases, the file contains their
/// results and the sums over them. If the run has one phase, the training itself writes the file.
/// Call this function for such a run only if it failed before the training ended, or was stopped
/// before the training began.
void write_plan_summary(Job& job, const std::vector<TrainingTask>& tasks, const std::string& status,
                        const std::string& message, ExitCode code);

}  // namespace traffic::train
