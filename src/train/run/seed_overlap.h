/// Evaluation seeds whose traffic is in the training data.
#pragma once

#include <string>
#include <vector>

#include "traffic/config/load.h"

namespace traffic::train {

/// A warning for each scenario of which data.files contain episodes with seeds of evaluation.seeds:
/// a world model that is trained on them has seen the traffic of the evaluation. Files that cannot
/// be read are ignored here; the training that needs them reports the error.
std::vector<std::string> find_seed_overlaps(const config::Plan& plan);

}  // namespace traffic::train
