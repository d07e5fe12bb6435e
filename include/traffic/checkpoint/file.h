/// Writes, reads and checks checkpoint files. A checkpoint is the state of a training, from which a
/// run can resume. Its file consists of a header of this program and an HDF5 file
/// (docs/reference/checkpoint-format.md).
///
///   bytes 0..4095   header, the user block of the HDF5 file: "TRAFCKPT", format version, length of
///                   the file, step, XXH3 hashes of all blocks of the HDF5 data and of the header
///   bytes 4096..    HDF5 file: one contiguous dataset for each value of the checkpoint, in groups
///                   that the '/' in the value's name separate
///
/// The hashes cover every byte of the file, and they are checked before HDF5 opens it. Nothing in
/// the file is executed.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "traffic/checkpoint/snapshot.h"

namespace traffic::checkpoint {

inline constexpr std::uint32_t kFormatVersion = 1;

class Image;

/// What the header of a checkpoint file says about the file.
struct FileInfo {
  std::int64_t step = 0;   ///< step of the training at which the checkpoint was made
  std::int64_t bytes = 0;  ///< size of the file
  /// Hash of the header, which contains the hashes of all blocks. Different files have different
  /// hashes.
  std::uint64_t hash = 0;
};

/// The bytes of a checkpoint file, in memory. The constructor only copies the values. Another
/// thread may call write() later.
class FileImage {
 public:
  /// Copies the values, so that later changes to them do not affect the image. Needs as much memory
  /// as the values.
  /// @throws ResourceError if there is not enough memory
  FileImage(const Snapshot& snapshot);  // not explicit: callers may pass a Snapshot
  ~FileImage();
  FileImage(FileImage&& other) noexcept;
  FileImage& operator=(FileImage&& other) noexcept;

  [[nodiscard]] std::int64_t step() const;
  /// Names of the part files (parts.h) that belong to the checkpoint.
  [[nodiscard]] const std::vector<std::string>& named_parts() const { return named_parts_; }
  /// Computes the hashes, writes a temporary file in the folder of `path`, flushes it to the disk
  /// and renames it to `path`. Equal snapshots give equal bytes.
  /// @throws ResourceError if the file cannot be written; a file at `path` is then unchanged
  FileInfo write(const std::filesystem::path& path) const;

 private:
  std::vector<std::string> named_parts_;
  std::unique_ptr<Image> image_;
};

/// Writes a checkpoint in one call: FileImage(snapshot).write(path).
void save(const Snapshot& snapshot, const std::filesystem::path& path);

/// Reads a checkpoint. All hashes, types and sizes are checked before memory is allocated for the
/// values.
/// @param prefix only values whose names begin with it are read; the whole file is checked
/// @throws CheckpointError with the file, the damaged or wrong value, what was found and expected,
///   and what to do
Snapshot load(const std::filesystem::path& path, std::string_view prefix = "");

/// Reads and checks the header only.
/// @throws CheckpointError if the file cannot be read or its header is wrong
FileInfo read_info(const std::filesystem::path& path);

/// Name and version of the library that reads and writes the files, e.g. "HDF5 1.10.8".
std::string library();

/// Checks the header and every hash, without reading values.
/// @throws CheckpointError if the file cannot be read or a check fails
FileInfo verify(const std::filesystem::path& path);

}  // namespace traffic::checkpoint
