/// A checkpoint file, complete, in memory: so that writing it is one write and one fsync whose
/// errors are ours to see, and HDF5 never meets a full disk.
#pragma once

#include <cstddef>
#include <span>

#include "h5.h"
#include "traffic/checkpoint/snapshot.h"

namespace traffic::checkpoint {

class Image {
 public:
  /// @throws h5::CallFailed, e.g. when there is not enough memory
  explicit Image(const Snapshot& snapshot);
  /// The file; valid as long as this object.
  [[nodiscard]] std::span<const std::byte> bytes() const { return bytes_; }

 private:
  h5::File file_;
  std::span<std::byte> bytes_;
};

}  // namespace traffic::checkpoint
