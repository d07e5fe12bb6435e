/// Parts that checkpoints of all phases have: parameters by their names, and an optimiser's state.
#pragma once

#include <string>

#include "traffic/checkpoint/snapshot.h"
#include "traffic/comm/flat_arena.h"
#include "traffic/train/adam.h"
#include "traffic/train/loss_scaler.h"

namespace traffic::train {

/// As "model/<name>".
void put_parameters(checkpoint::Snapshot& snapshot, const comm::NamedTensors& parameters);
/// Copies values into the parameters, without gradient.
/// @throws CheckpointError if one is missing or has another shape
void copy_parameters(const checkpoint::Snapshot& snapshot, const comm::NamedTensors& parameters);

/// Of all their bits, 16 hexadecimal digits: equal runs end with equal ones.
std::string parameters_hash(const comm::ParameterArena& parameters);

/// As "<prefix>/exp_avg", "<prefix>/exp_avg_sq" and "<prefix>/num_steps".
void put_adam(checkpoint::Snapshot& snapshot, const std::string& prefix, const Adam& adam);
/// @throws CheckpointError if a part is missing or does not fit
void restore_adam(const checkpoint::Snapshot& snapshot, const std::string& prefix, Adam& adam);

/// As "loss_scale/...".
void put_loss_scale(checkpoint::Snapshot& snapshot, const LossScaler& scaler);
/// Of a checkpoint without it, from a run in another precision, nothing is taken over.
void restore_loss_scale(const checkpoint::Snapshot& snapshot, LossScaler& scaler);

}  // namespace traffic::train
