/// Whether a folder's file system is what runs need: fast enough, and able to lock.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "traffic/train/doctor/doctor.h"

namespace traffic::train {

/// What was measured in a folder.
struct StorageFacts {
  std::string folder;
  std::string type = {};           ///< "nfs", "ext4", ...; a number where it has no name here
  double write_bytes_per_s = 0.0;  ///< of a large file that is there when the power fails
  double small_file_s = 0.0;       ///< to write, rename and find a small one
  bool locks = false;              ///< two holders of a lock exclude each other
  std::int64_t free_bytes = 0;
};

/// Writes some files there and removes them.
/// @throws ResourceError if nothing can be written
StorageFacts measure_storage(const std::filesystem::path& folder);

Finding judge_storage(const StorageFacts& facts);

/// Of the folder where runs go, or the nearest one above that is there.
Finding examine_folder(const config::Config& config);

}  // namespace traffic::train
