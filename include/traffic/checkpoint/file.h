/// One checkpoint, one file: an HDF5 file behind a header of its own (docs/checkpoint-format.md).
///
///   bytes 0..4095   header, the user block of the HDF5 file: "TRAFCKPT", format version, length of
///                   the file, step, XXH3 of every block of the rest, XXH3 of the header itself
///   bytes 4096..    HDF5: a group for each '/', one contiguous dataset for each value
///
/// Every byte of the file is under one of the hashes, and they are checked before HDF5 sees the
/// file. Nothing of the file is executed.
#pragma once

#include <cstdint>
#include <filesystem>

#include "traffic/checkpoint/snapshot.h"

namespace traffic::checkpoint {

inline constexpr std::uint32_t kFormatVersion = 1;

/// Writes the snapshot beside `path`, makes it durable, gives it its name. The same snapshot always
/// gives the same bytes. Needs as much memory again as the snapshot has.
/// @throws ResourceError if that fails; a file at `path` is then as it was
void save(const Snapshot& snapshot, const std::filesystem::path& path);

/// Reads a whole checkpoint; what the file says is checked before memory is taken for it.
/// @throws CheckpointError naming file, part, found, expected and remedy
Snapshot load(const std::filesystem::path& path);

struct FileInfo {
  std::int64_t step = 0;
  std::int64_t bytes = 0;
};

/// Checks the header only.
/// @throws CheckpointError
FileInfo read_info(const std::filesystem::path& path);

/// Checks the header and every hash without reading values.
/// @throws CheckpointError
FileInfo verify(const std::filesystem::path& path);

}  // namespace traffic::checkpoint
