/// Functions for the start of a training from a replay. They find the checkpoint to start from,
/// check that its learner fits, and check that the replay fits into memory.
#pragma once

#include <filesystem>
#include <string>

#include "offpolicy/settings.h"
#include "traffic/checkpoint/snapshot.h"

namespace traffic::train::offpolicy {

/// Path of the checkpoint that a new run starts from.
/// @param init_from run.init_from: a checkpoint, or a run folder
/// @param episode offpolicy.init_episode: the episode of the checkpoint in a run folder; 0 stands
///   for the newest checkpoint
/// @throws ConfigError if init_from is a checkpoint and episode is not 0
/// @throws CheckpointError if the run folder has no checkpoint of this episode; the message lists
///   the saved episodes
std::filesystem::path starting_checkpoint(const std::string& init_from, std::int64_t episode);

/// Stores the name of the learner as "offpolicy/learner".
void put_learner_kind(checkpoint::Snapshot& snapshot, const OffPolicy& settings);
/// Checks that the checkpoint belongs to the same kind of learner.
/// @throws CheckpointError if another learner wrote the checkpoint
void check_learner_kind(const checkpoint::Snapshot& snapshot, const OffPolicy& settings);

/// Checks that the replays of this machine's ranks fit into its memory.
/// @throws ResourceError
void check_replay_fits(std::int64_t bytes_of_rank, int ranks_of_node, std::int64_t memory_bytes);

}  // namespace traffic::train::offpolicy
