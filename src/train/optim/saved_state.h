/// What a checkpoint keeps of an optimiser.
#pragma once

#include <string>

#include "optim/loss_scaler.h"
#include "traffic/checkpoint/snapshot.h"
#include "traffic/train/optim/adam.h"

namespace traffic::train {

/// As "<prefix>/exp_avg", "<prefix>/exp_avg_sq" and "<prefix>/num_steps".
void put_adam(checkpoint::Snapshot& snapshot, const std::string& prefix, const Adam& adam);
/// @throws CheckpointError if a part is missing or does not fit
void restore_adam(const checkpoint::Snapshot& snapshot, const std::string& prefix, Adam& adam);

/// As "loss_scale/...".
void put_loss_scale(checkpoint::Snapshot& snapshot, const LossScaler& scaler);
/// Of a checkpoint without it, from a run in another precision, nothing is taken over.
void restore_loss_scale(const checkpoint::Snapshot& snapshot, LossScaler& scaler);

}  // namespace traffic::train
