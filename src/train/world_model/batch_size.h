/// How many samples a rank takes in a step where the configuration leaves that open.
#pragma once

#include <cstdint>
#include <string>

#include "traffic/comm/communicator.h"
#include "traffic/config/config.h"
#include "traffic/train/run/run.h"

namespace traffic::train {

/// @param free_bytes of the GPU of a rank, or a rank's part of the free memory of its machine
std::int64_t batch_size_for_memory(std::int64_t free_bytes);

/// What forward keeps for backward, about, of a batch on one rank. The factors are those that were
/// seen (docs/results/speed.md).
std::int64_t activation_bytes(const config::Config& config);

/// What to change where a batch makes training slow or leaves it few steps: "; ..."; empty where
/// it suits.
std::string advice_on_batch(std::int64_t batch_size, std::int64_t steps_per_epoch);

/// The configuration of a run with a batch size: data.batch_size = 0 becomes that of the checkpoint
/// it goes on from, or what suits the rank with the least memory. Collective.
/// @throws CheckpointError if the checkpoint does not say
config::Config with_batch_size(Run& run);

}  // namespace traffic::train
