/// Checks whether a folder's file system meets the needs of runs: fast enough, and with locks.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "traffic/train/doctor/doctor.h"

namespace traffic::train {

/// Measurements in a folder.
struct StorageFacts {
  std::string folder;
  std::string type = {};           ///< "nfs", "ext4", ...; a number for unknown types
  double write_bytes_per_s = 0.0;  ///< for a large file, including the time until it is safely on
                                   ///< disk
  double small_file_s = 0.0;       ///< seconds to write, rename and find a small file
  bool locks = false;              ///< whether two holders of a lock exclude each other
  std::int64_t free_bytes = 0;
};

/// Writes some files to the folder and removes them.
/// @throws ResourceError if the folder is not writable
StorageFacts measure_storage(const std::filesystem::path& folder);

Finding judge_storage(const StorageFacts& facts);

/// Measures the folder in which runs are created, or the nearest existing folder above it.
Finding examine_folder(const config::Config& config);

}  // namespace traffic::train
