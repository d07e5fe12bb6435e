/// A check of traffic_doctor: whether the file system of the run folder is fast enough and supports
/// locks.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "traffic/train/doctor/doctor.h"

namespace traffic::train {

/// Measurements in a folder.
struct StorageFacts {
  std::string folder;
  std::string type = {};  ///< "nfs", "ext4", ...; a number for unknown types
  /// Rate of writing a large file, including the time until it is safely on disk.
  double write_bytes_per_s = 0.0;
  double small_file_s = 0.0;  ///< seconds to write and rename a small file
  bool locks = false;         ///< whether a lock keeps a second holder out
  std::int64_t free_bytes = 0;
};

/// Writes some files to the folder and removes them.
/// @throws ResourceError if the folder is not writable
StorageFacts measure_storage(const std::filesystem::path& folder);

/// Warns if the file system is slow or has no locks.
Finding judge_storage(const StorageFacts& facts);

/// Measures the folder in which runs are created, or the nearest existing folder above it.
Finding examine_folder(const config::Config& config);

}  // namespace traffic::train
