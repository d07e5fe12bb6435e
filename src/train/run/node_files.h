/// Files that rank 0 has and ranks of other nodes may not see: a run folder need not be on a file
/// system that all nodes share.
#pragma once

#include <filesystem>
#include <string>

#include "traffic/comm/communicator.h"

namespace traffic::train {

/// Collective. Makes the folder on nodes that do not see what rank 0 writes to it.
/// @return on rank 0: which do not, and what that means; empty if all do
std::string open_on_nodes(comm::Communicator& communicator, const std::filesystem::path& folder);

/// Collective. A file of rank 0 is copied, under its own path, to the nodes that have none or
/// another one there. Nothing happens where rank 0 has none, or the job has one node.
/// @throws ResourceError on all ranks if it cannot be written
void bring_file(comm::Communicator& communicator, const std::filesystem::path& path);

}  // namespace traffic::train
