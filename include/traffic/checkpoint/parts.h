/// Reads and writes part files. A part file holds data of a checkpoint that are large, belong to
/// one rank, or rarely change.
///
/// Part files lie in the folder `parts` next to the checkpoints. A checkpoint lists the names of
/// its parts, separated by spaces, in text values that are called "parts/<anything>". The name of a
/// part consists of the XXH3 hash and the size of its content, for example
/// "0123456789abcdef-52428800.part". Checkpoints that contain the same data share one file.
///
/// Because the name depends on the content, a part file never changes, and it is written only if no
/// complete file of this name exists. Parts that no checkpoint names any more are removed after the
/// next save.
///
/// A checkpoint may come from an untrusted source. This module accepts only names of the form above
/// and reads only regular files, so that a checkpoint cannot refer to files outside of the folder.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "traffic/checkpoint/snapshot.h"

namespace traffic::checkpoint {

/// Name of the file that holds these bytes.
std::string part_name(std::span<const std::byte> bytes);

/// Whether part_name() could have returned this name.
bool is_part_name(std::string_view name);

/// Path of a part of the file `checkpoint`: in the folder `parts` next to the checkpoint. If the
/// part is only in the folder `parts` one level above, the path refers to that folder. This is the
/// case for a checkpoint that was moved to a folder left-behind-...
/// @throws Error if `name` is not the name of a part
std::filesystem::path place_of_part(const std::filesystem::path& checkpoint,
                                    const std::string& name);

/// Writes the parts of a snapshot whose files do not exist yet.
/// @param dir folder of the checkpoints
/// @throws ResourceError if a part cannot be written. Also if the folder `parts` is a symbolic
///   link, because removing old parts would then delete files of another folder
void write_parts(const Snapshot& snapshot, const std::filesystem::path& dir);

/// Reads a part.
/// @throws CheckpointError if the file is missing, damaged or not a regular file
Bytes read_part(const Snapshot& snapshot, const std::string& name);

/// The part names in the text value `entry` of a checkpoint, in their order. A name may occur
/// twice.
/// @throws CheckpointError if there is no such text, or if a word in it is not the name of a part
std::vector<std::string> parts_of(const Snapshot& snapshot, const std::string& entry);

/// The names of all parts of a checkpoint, each once.
/// @throws CheckpointError if a text value contains a word that is not the name of a part
std::vector<std::string> named_parts(const Snapshot& snapshot);

/// Checks all parts of a checkpoint by reading them.
/// @throws CheckpointError if a part is missing, damaged or not a regular file
void check_parts(const Snapshot& snapshot);

}  // namespace traffic::checkpoint
