/// Number of samples per rank and step if the configuration does not set it.
#pragma once

#include <cstdint>
#include <string>

#include "traffic/comm/communicator.h"
#include "traffic/config/config.h"
#include "traffic/train/run/run.h"

namespace traffic::train {

/// @param free_bytes free memory of the rank's GPU, or the rank's share of the free memory of its
///   machine
std::int64_t batch_size_for_memory(std::int64_t free_bytes);

/// Approximate size of the activations that forward keeps for backward, for one batch on one rank.
/// The factors were measured (docs/results/speed.md).
std::int64_t activation_bytes(const config::Config& config);

/// Advice to append to a log line ("; ...") if the batch size makes training slow or leaves it few
/// steps; empty if the batch size is suitable.
std::string advice_on_batch(std::int64_t batch_size, std::int64_t steps_per_epoch);

/// The run's configuration, in which data.batch_size = 0 is replaced: by the batch size of the
/// checkpoint to resume from or, in a new run, by one that suits the rank with the least memory.
/// Collective.
/// @throws CheckpointError if the checkpoint does not contain the batch size
config::Config with_batch_size(Run& run);

}  // namespace traffic::train
