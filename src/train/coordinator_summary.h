/// The summaries of phases, read again, and the one of them all. For one rank.
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

/// A training of a plan and how it fares.
struct TrainingTask {
  const config::TrainingFacts* facts = nullptr;
  config::Config config{};
  std::filesystem::path dir{};
  std::filesystem::path config_path{};  ///< of a file with that configuration
  std::int64_t retries = 0;

  /// What the next one starts from.
  [[nodiscard]] std::filesystem::path result() const {
    return dir / "checkpoints" / (std::string(facts->folder) + ".h5");
  }
  /// Whether it is compared with other controllers at its end. traffic_eval does not know agents
  /// that the program has added.
  [[nodiscard]] bool is_evaluated() const {
    return facts->simulates && !config.evaluation.seeds.empty() &&
           !config::names_added_agent(config.env);
  }
};

/// The phase's summary; an empty object without one or if it is damaged, which is logged.
nlohmann::ordered_json read_summary(const TrainingTask& task);

/// status of the phase's summary; empty without one.
std::string status_of(const TrainingTask& task);

/// Adds to the phase's summary how often it was tried again.
void add_retries(const TrainingTask& task);
/// Adds what searches of the run have found, if there were any, to the phase's summary.
void add_search(const TrainingTask& task, const report::RunFolder& run);
/// Adds the comparison with other controllers to the phase's summary.
void add_evaluation(const TrainingTask& task, const nlohmann::ordered_json& controllers);

/// summary.json of the whole run: with several phases their results and sums; with one phase only
/// what its own summary cannot say, that it failed.
void write_plan_summary(Job& job, const std::vector<TrainingTask>& tasks, const std::string& status,
                        const std::string& message, ExitCode code);

}  // namespace traffic::train
