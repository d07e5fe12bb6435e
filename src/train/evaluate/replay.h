/// The episodes of one seed under every controller of a plan, kept to be looked at.
#pragma once

#include <string>
#include <vector>

#include "evaluate/recording.h"
#include "traffic/train/evaluate/evaluation.h"

namespace traffic::train {

/// @throws ResourceError naming the folder if it cannot be made
void create_replay_dir(const EvaluationPlan& plan);

/// With these SUMO itself writes where each vehicle was each second, in its own format (FCD).
std::vector<std::string> sumo_output_arguments(const EvaluationPlan& plan, std::size_t controller);

/// In the process of the episode; write_replay joins what all of them saved.
void save_recording(const EvaluationPlan& plan, std::size_t controller, const Recording& recording);

/// replay.html, traffic.json, and the scenario with this seed for sumo-gui.
/// @throws ResourceError
void write_replay(const EvaluationPlan& plan);

}  // namespace traffic::train
