/// Files of rank 0 that ranks on other nodes may not see: a run folder need not be on a file system
/// that all nodes share.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "traffic/comm/communicator.h"

namespace traffic::train {

/// Which nodes see a folder that rank 0 writes to.
struct FolderView {
  bool all_see = true;
  bool seen = true;  ///< whether this rank's node sees it
  std::string note;  ///< on rank 0: which nodes do not see it, and the consequences; empty if all
                     ///< do
};
/// Collective. Creates the folder on nodes that do not see it.
FolderView open_on_nodes(comm::Communicator& communicator, const std::filesystem::path& folder);

/// Collective. Copies a file of rank 0, under the same path, to the nodes that have no such file or
/// a different one. Does nothing if rank 0 has no such file, or if the job has one node.
/// @throws ResourceError on all ranks if the copy cannot be written
void bring_file(comm::Communicator& communicator, const std::filesystem::path& path);

/// The source file of copy_from_rank_0.
struct SharedFile {
  std::filesystem::path path;  ///< as rank 0 sees it
  std::int64_t bytes = 0;
};
/// Collective. Broadcasts the content of a file of rank 0 piece by piece. Ranks that name a target
/// write it there, either completely or not at all.
/// @param target on this rank; empty: no copy
void copy_from_rank_0(comm::Communicator& communicator, const SharedFile& file,
                      const std::filesystem::path& target);

}  // namespace traffic::train
