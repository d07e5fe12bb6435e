/// Parts that checkpoints of all phases have: parameters by their names, an optimiser's state, the
/// configuration.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "traffic/checkpoint/snapshot.h"
#include "traffic/comm/flat_arena.h"
#include "traffic/config/load.h"
#include "traffic/config/trainings.h"

namespace traffic::train {

/// As "model/<name>".
void put_parameters(checkpoint::Snapshot& snapshot, const comm::NamedTensors& parameters);
/// Copies values into the parameters, without gradient.
/// @throws CheckpointError if one is missing or has another shape
void copy_parameters(const checkpoint::Snapshot& snapshot, const comm::NamedTensors& parameters);

/// All values of another snapshot, as "<group>/<name>"; the tensors are the same ones.
void put_group(checkpoint::Snapshot& snapshot, const std::string& group,
               const checkpoint::Snapshot& values);
/// The values of a group under their own names; nothing if there are none.
std::optional<checkpoint::Snapshot> group_in(const checkpoint::Snapshot& snapshot,
                                             const std::string& group);

/// Of all their bits, 16 hexadecimal digits: equal runs end with equal ones.
std::string parameters_hash(const comm::ParameterArena& parameters);

/// The configuration that a checkpoint was made with. Keys that this version does not know are left
/// out, see warn_of_unknown_settings().
/// @throws ConfigError if a value is none that this version takes
config::Config stored_config(const checkpoint::Snapshot& snapshot,
                             const config::Overrides& overrides = {});
/// Keys and tables of that configuration that this version does not know.
std::vector<std::string> unknown_settings(const checkpoint::Snapshot& snapshot);
/// Names them in a warning.
void warn_of_unknown_settings(const checkpoint::Snapshot& snapshot);

/// As "training": which one the checkpoint is of.
void put_training(checkpoint::Snapshot& snapshot, const config::TrainingFacts& facts);
/// The name of the training that it is of; of old checkpoints by their number, "phase".
/// @throws CheckpointError if it is of one that this program does not know
const config::TrainingFacts& training_of(const checkpoint::Snapshot& snapshot);
/// @throws CheckpointError if it is of another training
void check_training(const checkpoint::Snapshot& snapshot, const config::TrainingFacts& facts);

/// As "model_hash": of the [model] table, 16 hexadecimal digits.
std::string model_hash_text(const config::Config& config);
/// Whether the settings in a hash are those that the checkpoint was made with. If keys have come or
/// gone since, its hash is another one: then its configuration, as this version reads it, decides.
/// @param entry where the checkpoint has its own hash, e.g. "model_hash"
bool has_equal_hash(const checkpoint::Snapshot& snapshot, const std::string& entry,
                    const config::Config& config, std::string (*hash)(const config::Config&));
/// Of the keys that `concerns` holds of: "key = value, this run has value" of each that the
/// checkpoint was made with otherwise.
std::string differing_settings(const checkpoint::Snapshot& snapshot, const config::Config& config,
                               const std::function<bool(std::string_view key)>& concerns);
bool is_of_model(std::string_view key);

}  // namespace traffic::train
