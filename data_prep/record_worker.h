/// Records some episodes into one file. Runs in a process of its own, because libsumo holds one
/// simulation per process, and a crash must not cost more than one file.
#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "record_plan.h"
#include "traffic/sim/sumo_env.h"

namespace traffic::data_prep {

struct RecordJob {
  sim::EnvOptions env{};  ///< its scenario is a .sumocfg
  std::filesystem::path file;
  std::size_t first_episode = 0;  ///< index into the plan
  std::size_t end_episode = 0;
};

/// Receives the progress after every episode and from time to time within one.
using Heartbeat = std::function<void(std::size_t episodes_done, std::int64_t steps)>;

/// Records graphs for world models.
/// @throws Error; the incomplete file is removed then
void record_episodes(const RecordJob& job, const RecordPlan& plan, const RecordOptions& options,
                     const std::string& command_line, const Heartbeat& heartbeat);
/// Records scenes for driving policies.
/// @throws Error; the incomplete file is removed then
void record_scenes(const RecordJob& job, const RecordPlan& plan, const RecordOptions& options,
                   const std::string& command_line, const Heartbeat& heartbeat);

}  // namespace traffic::data_prep
