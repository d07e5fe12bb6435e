/// A checkpoint file in memory. The program, not HDF5, writes and fsyncs the file afterwards. It
/// therefore sees all errors, and HDF5 never has to handle a full disk.
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
  /// Computes the hashes and writes the header. Does not call HDF5.
  /// @return the file; valid as long as this object
  [[nodiscard]] std::span<const std::byte> seal();
  [[nodiscard]] std::int64_t step() const { return step_; }

 private:
  std::int64_t step_;
  h5::File file_;
  std::span<std::byte> bytes_;
};

}  // namespace traffic::checkpoint
