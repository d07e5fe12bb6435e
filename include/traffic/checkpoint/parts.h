/// Part files: data of a checkpoint that is large, belongs to one rank, or rarely changes.
///
/// They lie in the folder `parts` beside the checkpoints. A checkpoint names them in its text
/// values "parts/<anything>", separated by spaces. Checkpoints that contain the same data share one
/// file, whose name states the XXH3 hash and the size of its content, for example
/// "0123456789abcdef-52428800.part".
///
/// The name shows whether a file is complete. A file therefore never changes, and it is written
/// only if it is not there yet. Parts that no checkpoint names any more are removed after the next
/// save.
///
/// A checkpoint may come from a stranger. Only names of the form above are accepted, and only
/// regular files are read, so that a checkpoint cannot refer to anything outside of that folder.
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

/// Path of a part. Parts lie beside the checkpoint. For a checkpoint that was moved to
/// left-behind-... they may lie beside that folder instead. If the part is missing, the path is the
/// one beside the checkpoint.
/// @throws Error if this is no name of a part
std::filesystem::path place_of_part(const std::filesystem::path& checkpoint,
                                    const std::string& name);

/// Writes the parts of a snapshot that are not there yet.
/// @param dir folder of the checkpoints
/// @throws ResourceError if a part cannot be written, or if the folder `parts` is a link: removing
/// parts would delete files of another folder
void write_parts(const Snapshot& snapshot, const std::filesystem::path& dir);

/// Reads a part.
/// @throws CheckpointError if it is missing, damaged or no regular file
Bytes read_part(const Snapshot& snapshot, const std::string& name);

/// The part names in one text value of a checkpoint, in their order; a name may occur twice.
/// @throws CheckpointError if there is no such text, or if a word in it is no name of a part
std::vector<std::string> parts_of(const Snapshot& snapshot, const std::string& entry);

/// All parts that a checkpoint names, each once.
/// @throws CheckpointError as parts_of
std::vector<std::string> named_parts(const Snapshot& snapshot);

/// Reads all parts that a checkpoint names.
/// @throws CheckpointError if one is missing, damaged or no regular file
void check_parts(const Snapshot& snapshot);

}  // namespace traffic::checkpoint
