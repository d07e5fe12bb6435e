/// Records some episodes into one file. Runs in a process of its own: libsumo holds one simulation
/// a process, and a crash of it must not cost more than its file.
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
  std::size_t first_episode = 0;  ///< of the plan
  std::size_t end_episode = 0;
};

/// Told about every episode that is done, and now and then in between.
using Heartbeat = std::function<void(std::size_t episodes_done, std::int64_t steps)>;

/// @throws Error; nothing is left of the file then
void record_episodes(const RecordJob& job, const RecordPlan& plan, const RecordOptions& options,
                     const std::string& command_line, const Heartbeat& heartbeat);

}  // namespace traffic::data_prep
