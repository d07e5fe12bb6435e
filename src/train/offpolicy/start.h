/// What a new run of this training starts from.
#pragma once

#include <filesystem>
#include <string>

#include "offpolicy/settings.h"
#include "traffic/checkpoint/snapshot.h"

namespace traffic::train::offpolicy {

/// run.init_from, or of a run's folder the checkpoint of offpolicy.init_episode.
/// @throws ConfigError, CheckpointError that says which episodes were saved
std::filesystem::path starting_checkpoint(const std::string& init_from, std::int64_t episode);

/// As "offpolicy/learner".
void put_learner_kind(checkpoint::Snapshot& snapshot, const OffPolicy& settings);
/// @throws CheckpointError if it is of another learner
void check_learner_kind(const checkpoint::Snapshot& snapshot, const OffPolicy& settings);

/// Refuses a replay for which the memory of this machine does not suffice.
/// @throws ResourceError
void check_replay_fits(std::int64_t bytes_of_rank, int ranks_of_node, std::int64_t memory_bytes);

}  // namespace traffic::train::offpolicy
