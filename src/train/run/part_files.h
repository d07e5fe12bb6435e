/// Writes and copies the part files beside checkpoints (checkpoint/parts.h), such as replays, if
/// some nodes do not see rank 0's run folder. That folder holds the parts of all ranks. To resume a
/// run, they are copied to the nodes that lack them.
#pragma once

#include <filesystem>
#include <string>

#include "traffic/checkpoint/snapshot.h"
#include "traffic/comm/communicator.h"

namespace traffic::train {

/// Collective. Sends the parts of the ranks that do not see rank 0's folder to rank 0, which writes
/// them.
/// @param dir folder of the checkpoints
/// @param seen whether this rank sees the folder and writes its parts itself
/// @return on rank 0 the reason why writing failed; empty on success and on other ranks
std::string write_parts_for_others(comm::Communicator& communicator,
                                   const checkpoint::Snapshot& snapshot,
                                   const std::filesystem::path& dir, bool seen);

/// Collective. Copies all parts that a checkpoint of rank 0 names to the nodes that lack them.
/// @throws CheckpointError on all ranks if a part is missing or damaged; nothing is copied then
/// @throws ResourceError on all ranks if a copy cannot be written
void bring_parts(comm::Communicator& communicator, const std::filesystem::path& checkpoint);

}  // namespace traffic::train
