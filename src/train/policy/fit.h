/// Checks whether the weights of a checkpoint fit the configuration of a run, and loads those of
/// the perception.
#pragma once

#include <string>

#include "policy/perception.h"
#include "traffic/checkpoint/snapshot.h"
#include "traffic/config/config.h"

namespace traffic::train {

/// Copies the weights of the encoder and the world model from a checkpoint. Does nothing if the
/// configuration uses neither.
/// @throws CheckpointError if the checkpoint was made with another [model] table, or lacks weights
void load_perception(const checkpoint::Snapshot& snapshot, const config::Config& config,
                     Perception& perception);

/// Checks whether the policy in a checkpoint fits the configuration.
/// @throws CheckpointError if the settings that policy_hash() covers differ from the checkpoint's
void check_policy_fits(const checkpoint::Snapshot& snapshot, const config::Config& config);
/// Hash of the settings that the controller's parameters depend on: [vehicles], episodes.credit
/// and, if the controller reads encodings, [model].
std::string policy_hash(const config::Config& config);

}  // namespace traffic::train
