/// Writes and reads entries that the checkpoints of all trainings have: parameters by name, the
/// configuration and the name of the training. Also compares the settings of a checkpoint with
/// those of this run.
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

/// Stores each parameter as "model/<name>".
void put_parameters(checkpoint::Snapshot& snapshot, const comm::NamedTensors& parameters);
/// Copies the stored values of "model/<name>" into the parameters.
/// @throws CheckpointError if one is missing or has another shape
void copy_parameters(const checkpoint::Snapshot& snapshot, const comm::NamedTensors& parameters);

/// Stores all values of another snapshot as "<group>/<name>"; tensors are shared, not copied.
void put_group(checkpoint::Snapshot& snapshot, const std::string& group,
               const checkpoint::Snapshot& values);
/// The values of a group under their own names; nothing if the group is empty.
std::optional<checkpoint::Snapshot> group_in(const checkpoint::Snapshot& snapshot,
                                             const std::string& group);

/// Hash of all bits of the parameters, as 16 hexadecimal digits. Two runs with equal results end
/// with equal hashes.
std::string parameters_hash(const comm::ParameterArena& parameters);

/// The configuration of the run that saved the checkpoint. Keys unknown to this version are left
/// out, see warn_of_unknown_settings().
/// @throws ConfigError if this version does not accept a value
config::Config stored_config(const checkpoint::Snapshot& snapshot,
                             const config::Overrides& overrides = {});
/// Keys and tables of the checkpoint's configuration that this version does not know.
std::vector<std::string> unknown_settings(const checkpoint::Snapshot& snapshot);
/// Logs a warning that names the unknown_settings() of a checkpoint.
void warn_of_unknown_settings(const checkpoint::Snapshot& snapshot);

/// Stores the name of the training as "training".
void put_training(checkpoint::Snapshot& snapshot, const config::TrainingFacts& facts);
/// The training that the checkpoint belongs to. Old checkpoints store its number as "phase".
/// @throws CheckpointError if this program does not know the training
const config::TrainingFacts& training_of(const checkpoint::Snapshot& snapshot);
/// @throws CheckpointError if the checkpoint belongs to another training
void check_training(const checkpoint::Snapshot& snapshot, const config::TrainingFacts& facts);

/// Hash of the table [model] of a configuration, as 16 hexadecimal digits. Checkpoints store it as
/// "model_hash".
std::string model_hash_text(const config::Config& config);
/// Whether the settings that a hash covers are equal in this configuration and in the checkpoint.
/// The stored hash also differs if keys were added to the program, or removed from it, after the
/// checkpoint was saved. The function therefore also compares the hash of the configuration in the
/// checkpoint, as this version reads it.
/// @param entry name of the checkpoint's entry with its hash, e.g. "model_hash"
bool has_equal_hash(const checkpoint::Snapshot& snapshot, const std::string& entry,
                    const config::Config& config, std::string (*hash)(const config::Config&));
/// Lists the settings in which this run differs from the run that saved the checkpoint, as text:
/// "key = value, this run has value; ...". It compares only keys for which `concerns` is true.
std::string differing_settings(const checkpoint::Snapshot& snapshot, const config::Config& config,
                               const std::function<bool(std::string_view key)>& concerns);
/// Whether a key belongs to the table [model].
bool is_of_model(std::string_view key);

}  // namespace traffic::train
