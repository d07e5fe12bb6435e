/// Stores the state of Adam and of the loss scaler in checkpoints, and restores it.
#pragma once

#include <string>

#include "optim/adam.h"
#include "optim/loss_scaler.h"
#include "traffic/checkpoint/snapshot.h"

namespace traffic::train {

/// Stores "<prefix>/exp_avg", "<prefix>/exp_avg_sq" and "<prefix>/num_steps".
void put_adam(checkpoint::Snapshot& snapshot, const std::string& prefix, const Adam& adam);
/// Restores what put_adam() stored.
/// @throws CheckpointError if an entry is missing or has another size
void restore_adam(const checkpoint::Snapshot& snapshot, const std::string& prefix, Adam& adam);

/// Stores "loss_scale/...".
void put_loss_scale(checkpoint::Snapshot& snapshot, const LossScaler& scaler);
/// Restores what put_loss_scale() stored. If the checkpoint has no loss scale, because its run
/// used another precision, leaves the scaler unchanged.
void restore_loss_scale(const checkpoint::Snapshot& snapshot, LossScaler& scaler);

}  // namespace traffic::train
