/// Image builds the bytes of a checkpoint file in memory with HDF5. FileImage (file.h) then writes
/// these bytes to the disk without HDF5. So this program sees every error of the disk, and HDF5
/// never has to handle a full disk.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "h5.h"
#include "traffic/checkpoint/snapshot.h"

namespace traffic::checkpoint {

class Image {
 public:
  /// Copies the values.
  /// @throws h5::CallFailed, e.g. when there is not enough memory
  explicit Image(const Snapshot& snapshot);
  /// Computes the hashes and writes the header into the image. Does not call HDF5, so any thread
  /// may call it.
  /// @return the bytes of the file; valid as long as this object
  [[nodiscard]] std::span<const std::byte> seal();
  [[nodiscard]] std::int64_t step() const { return step_; }

 private:
  std::int64_t step_;
  h5::File file_;
  std::span<std::byte> bytes_;
};

}  // namespace traffic::checkpoint
