/// Files beside the checkpoints of a folder, in <folder>/parts/, for what is large, belongs to one
/// rank, or hardly changes between two checkpoints. A checkpoint names them in texts
/// "parts/<anything>", one name after the other; what several checkpoints name is there once.
///
///     parts/0123456789abcdef-52428800.part     XXH3 and size of what it holds
///
/// So a file never changes: a name says whether it is whole, and who writes what is there already
/// has nothing to do. A file that no checkpoint names any more is removed with the next save.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "traffic/checkpoint/snapshot.h"

namespace traffic::checkpoint {

/// Name of the file that holds these bytes.
std::string part_name(std::span<const std::byte> bytes);

/// Where a part that a checkpoint names is: beside it or, where it was moved into a folder of the
/// checkpoints, above. Beside it, too, if it is nowhere.
std::filesystem::path place_of_part(const std::filesystem::path& checkpoint,
                                    const std::string& name);

/// Writes those of a snapshot that are not there yet.
/// @param dir of the checkpoints
/// @throws ResourceError
void write_parts(const Snapshot& snapshot, const std::filesystem::path& dir);

/// Reads a file that a checkpoint names.
/// @throws CheckpointError if it is missing or damaged
Bytes read_part(const Snapshot& snapshot, const std::string& name);

/// Names in one of the texts. @throws CheckpointError if there is no such text
std::vector<std::string> parts_of(const Snapshot& snapshot, const std::string& entry);
/// In all of them.
std::vector<std::string> named_parts(const Snapshot& snapshot);

/// @throws CheckpointError if one that the checkpoint names is missing or damaged
void check_parts(const Snapshot& snapshot);

/// Removes files that no checkpoint in the folder, or in a folder of it, names.
/// @throws ResourceError
void remove_unnamed_parts(const std::filesystem::path& dir);

}  // namespace traffic::checkpoint
