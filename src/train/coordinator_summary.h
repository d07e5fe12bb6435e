/// The summaries of phases, read again, and the one of them all. For one rank.
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "traffic/core/error.h"
#include "traffic/train/run/job.h"

namespace traffic::train {

/// A phase of a plan and how it fares.
struct PhaseTask {
  int number = 1;
  config::Config config{};
  std::filesystem::path dir{};
  std::int64_t retries = 0;

  /// What the next phase starts from.
  [[nodiscard]] std::filesystem::path result() const {
    return dir / "checkpoints" / ("phase" + std::to_string(number) + ".h5");
  }
};

/// The phase's summary; an empty object without one.
nlohmann::ordered_json read_summary(const PhaseTask& task);

/// status of the phase's summary; empty without one.
std::string status_of(const PhaseTask& task);

/// Adds to the phase's summary how often it was tried again.
void add_retries(const PhaseTask& task);
/// Adds the comparison with other controllers to the phase's summary.
void add_evaluation(const PhaseTask& task, const nlohmann::ordered_json& controllers);

/// summary.json of the whole run: with several phases their results and sums; with one phase only
/// what its own summary cannot say, that it failed.
void write_plan_summary(Job& job, const std::vector<PhaseTask>& tasks, const std::string& status,
                        const std::string& message, ExitCode code);

}  // namespace traffic::train
