/// Finds evaluation seeds whose traffic is also in the recorded training data, to warn the user at
/// the start of a run.
#pragma once

#include <string>
#include <vector>

#include "traffic/config/load.h"

namespace traffic::train {

/// Returns a warning for each scenario whose recordings in data.files contain episodes with seeds
/// of evaluation.seeds. A world model that is trained on such files has seen the traffic of the
/// evaluation. Files that cannot be read are ignored here; the training that needs them reports the
/// error.
std::vector<std::string> find_seed_overlaps(const config::Plan& plan);

}  // namespace traffic::train
