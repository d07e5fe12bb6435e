/// Copies files of rank 0 to nodes that do not see them. A run folder need not be on a file system
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
  bool seen = true;  ///< whether this rank's node sees the folder
  /// Text for the user on rank 0: which nodes do not see the folder, and the consequences; empty if
  /// all nodes see it.
  std::string note;
};
/// Collective. Finds out which nodes see the folder of rank 0, and creates a folder with this path
/// on nodes that do not.
FolderView open_on_nodes(comm::Communicator& communicator, const std::filesystem::path& folder);

/// Collective. Copies a file of rank 0 to the nodes on which this path has no file or different
/// content. Does nothing if rank 0 has no such file, or if the job has one node.
/// @throws ResourceError on all ranks if the copy cannot be written
void bring_file(comm::Communicator& communicator, const std::filesystem::path& path);

/// The source file of copy_from_rank_0.
struct SharedFile {
  std::filesystem::path path;  ///< as rank 0 sees it
  std::int64_t bytes = 0;
};
/// Collective. Broadcasts the content of a file of rank 0 piece by piece. Ranks that name a target
/// write it there, either completely or not at all.
/// @param target path of the copy on this rank; empty if this rank writes no copy
void copy_from_rank_0(comm::Communicator& communicator, const SharedFile& file,
                      const std::filesystem::path& target);

}  // namespace traffic::train
