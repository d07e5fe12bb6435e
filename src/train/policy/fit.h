/// Whether the weights of a checkpoint fit this configuration, and loading them.
#pragma once

#include <string>

#include "policy/perception.h"
#include "traffic/checkpoint/snapshot.h"
#include "traffic/config/config.h"

namespace traffic::train {

/// Copies weights that a checkpoint of phase 1 (or of phase 2) holds into the perception.
/// @throws CheckpointError if it was made with another [model] table
void load_perception(const checkpoint::Snapshot& snapshot, const config::Config& config,
                     Perception& perception);

/// @throws CheckpointError if its controller is not one of this configuration
void check_policy_fits(const checkpoint::Snapshot& snapshot, const config::Config& config);
/// Hash of the settings that parameters depend on: [model], [vehicles] and episodes.credit.
std::string policy_hash(const config::Config& config);

}  // namespace traffic::train
