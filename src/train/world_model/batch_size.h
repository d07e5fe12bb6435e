/// Chooses the number of samples per rank and step (the batch size) if data.batch_size is 0, and
/// judges a given batch size.
#pragma once

#include <cstdint>
#include <string>

#include "traffic/comm/communicator.h"
#include "traffic/config/config.h"
#include "traffic/train/run/run.h"

namespace traffic::train {

/// The batch size that suits an amount of free memory.
/// @param free_bytes free memory of the rank's GPU; on the CPU, the rank's share of the free memory
///   of its machine
std::int64_t batch_size_for_memory(std::int64_t free_bytes);

/// Approximate size of the activations that forward keeps for backward, for one batch on one rank.
/// The factors were measured (docs/results/speed.md).
std::int64_t activation_bytes(const config::Config& config);

/// Advice to append to a log line ("; ...") if the batch size makes training slow or leaves it few
/// steps; empty if the batch size is suitable.
std::string advice_on_batch(std::int64_t batch_size, std::int64_t steps_per_epoch);

/// The run's configuration with a value for data.batch_size if it is 0. A resumed run gets the
/// batch size of its checkpoint. A new run gets a batch size that suits the rank with the least
/// memory. Collective.
/// @throws CheckpointError if the checkpoint does not contain the batch size
config::Config with_batch_size(Run& run);

}  // namespace traffic::train
