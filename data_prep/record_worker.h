/// The work of one worker process of data_prep record: simulates some episodes and writes them to
/// one file. A worker has a process of its own, because libsumo can run only one simulation per
/// process, and because a crash then costs only one file.
#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "record_plan.h"
#include "traffic/sim/sumo_env.h"

namespace traffic::data_prep {

struct RecordJob {
  sim::EnvOptions env{};          ///< env.scenario is the path of a .sumocfg
  std::filesystem::path file;     ///< the file to write
  std::size_t first_episode = 0;  ///< index of the first episode in the plan
  std::size_t end_episode = 0;    ///< index after the last episode
};

/// Receives the progress after every episode, and about once a second within an episode.
using Heartbeat = std::function<void(std::size_t episodes_done, std::int64_t steps)>;

/// Records graphs for world models.
/// @throws Error if the recording fails or a stop is requested; the incomplete file is removed
void record_episodes(const RecordJob& job, const RecordPlan& plan, const RecordOptions& options,
                     const std::string& command_line, const Heartbeat& heartbeat);
/// Records scenes for driving policies.
/// @throws Error if the recording fails or a stop is requested; the incomplete file is removed
void record_scenes(const RecordJob& job, const RecordPlan& plan, const RecordOptions& options,
                   const std::string& command_line, const Heartbeat& heartbeat);

}  // namespace traffic::data_prep
