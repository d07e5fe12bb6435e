/// The replay of an evaluation: the first seed's episodes under every controller of the plan.
#pragma once

#include <string>
#include <vector>

#include "evaluate/recording.h"
#include "traffic/train/evaluate/evaluation.h"

namespace traffic::train {

/// Creates plan.replay_dir.
/// @throws ResourceError that names the folder if it cannot be created
void create_replay_dir(const EvaluationPlan& plan);

/// Arguments with which SUMO writes the position of each vehicle in each second, in its own format
/// (FCD).
std::vector<std::string> sumo_output_arguments(const EvaluationPlan& plan, std::size_t controller);

/// Writes the recording to a temporary file, in the process of the episode. write_replay() joins
/// these files.
void save_recording(const EvaluationPlan& plan, std::size_t controller, const Recording& recording);

/// Writes replay.html, traffic.json and the scenario with this seed for sumo-gui. Removes the files
/// of save_recording().
/// @throws ResourceError
void write_replay(const EvaluationPlan& plan);

}  // namespace traffic::train
