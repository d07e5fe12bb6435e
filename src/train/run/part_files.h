/// Parts beside checkpoints (checkpoint/parts.h) where nodes do not see rank 0's run folder: all
/// parts are there, those of any rank, and are copied to where they are read.
#pragma once

#include <filesystem>
#include <string>

#include "traffic/checkpoint/snapshot.h"
#include "traffic/comm/communicator.h"

namespace traffic::train {

/// Collective. Rank 0 writes what ranks have that cannot.
/// @param dir of the checkpoints
/// @param seen by this rank, which then writes its parts itself
/// @return on rank 0 why it could not; empty if it could
std::string write_parts_for_others(comm::Communicator& communicator,
                                   const checkpoint::Snapshot& snapshot,
                                   const std::filesystem::path& dir, bool seen);

/// Collective. Copies all parts that a checkpoint of rank 0 names to the nodes that lack them.
/// @throws CheckpointError on all ranks if a part is missing or damaged; nothing is copied then
/// @throws ResourceError on all ranks if a copy cannot be written
void bring_parts(comm::Communicator& communicator, const std::filesystem::path& checkpoint);

}  // namespace traffic::train
