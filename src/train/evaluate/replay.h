/// Writes the files of the replay of an evaluation: a page that shows the episodes of the first
/// seed under every controller, and files for SUMO's own tools.
#pragma once

#include <string>
#include <vector>

#include "evaluate/recording.h"
#include "traffic/train/evaluate/evaluation.h"

namespace traffic::train {

/// Creates plan.replay_dir.
/// @throws ResourceError that names the folder if it cannot be created
void create_replay_dir(const EvaluationPlan& plan);

/// Arguments that make SUMO write the position of each vehicle in each second, in SUMO's own format
/// (FCD).
std::vector<std::string> sumo_output_arguments(const EvaluationPlan& plan, std::size_t controller);

/// Writes the recording of one episode to a temporary file. The process of the episode calls it;
/// write_replay() later joins the files.
void save_recording(const EvaluationPlan& plan, std::size_t controller, const Recording& recording);

/// Writes replay.html, traffic.json, and the scenario with the first seed for sumo-gui. Removes the
/// temporary files of save_recording().
/// @throws ResourceError
void write_replay(const EvaluationPlan& plan);

}  // namespace traffic::train
