/// Files that rank 0 has and ranks of other nodes may not see: a run folder need not be on a file
/// system that all nodes share.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "traffic/comm/communicator.h"

namespace traffic::train {

/// What the nodes see of a folder that rank 0 writes to.
struct FolderView {
  bool all_see = true;
  bool seen = true;  ///< by this rank's node
  std::string note;  ///< on rank 0: who does not, and what that means; empty if all do
};
/// Collective. Makes the folder on nodes that do not see it.
FolderView open_on_nodes(comm::Communicator& communicator, const std::filesystem::path& folder);

/// Collective. A file of rank 0 is copied, under its own path, to the nodes that have none or
/// another one there. Nothing happens where rank 0 has none, or the job has one node.
/// @throws ResourceError on all ranks if it cannot be written
void bring_file(comm::Communicator& communicator, const std::filesystem::path& path);

/// What copy_from_rank_0 copies.
struct SharedFile {
  std::filesystem::path path;  ///< as rank 0 sees it
  std::int64_t bytes = 0;
};
/// Collective. What a file of rank 0 holds goes to all ranks, piece by piece; those that name a
/// target write it there, which is the whole file or none.
/// @param target of this rank; empty: none
/// @throws ResourceError on all ranks
void copy_from_rank_0(comm::Communicator& communicator, const SharedFile& file,
                      const std::filesystem::path& target);

}  // namespace traffic::train
