/// A checkpoint file: an HDF5 file behind a header of this program
/// (docs/reference/checkpoint-format.md).
///
///   bytes 0..4095   header, the user block of the HDF5 file: "TRAFCKPT", format version, length of
///                   the file, step, XXH3 of every block of the rest, XXH3 of the header itself
///   bytes 4096..    HDF5: a group for each '/', one contiguous dataset for each value
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

struct FileInfo {
  std::int64_t step = 0;
  std::int64_t bytes = 0;
  /// Hash of the header, which contains the hashes of all blocks. Different files have different
  /// hashes.
  std::uint64_t hash = 0;
};

/// The bytes of a checkpoint file, in memory. The constructor takes the time of a copy; another
/// thread may call write() later.
class FileImage {
 public:
  /// Copies the values, so that later changes to them do not affect the image. Needs as much memory
  /// as the values.
  /// @throws ResourceError if there is not enough memory
  FileImage(const Snapshot& snapshot);  // implicit on purpose
  ~FileImage();
  FileImage(FileImage&& other) noexcept;
  FileImage& operator=(FileImage&& other) noexcept;

  [[nodiscard]] std::int64_t step() const;
  /// The parts (parts.h) that the checkpoint names.
  [[nodiscard]] const std::vector<std::string>& named_parts() const { return named_parts_; }
  /// Computes the hashes, writes a file beside `path`, makes it durable and renames it to `path`.
  /// Equal snapshots give equal bytes.
  /// @throws ResourceError if that fails; a file at `path` is then unchanged
  FileInfo write(const std::filesystem::path& path) const;

 private:
  std::vector<std::string> named_parts_;
  std::unique_ptr<Image> image_;
};

/// FileImage(snapshot).write(path)
void save(const Snapshot& snapshot, const std::filesystem::path& path);

/// Reads a checkpoint. All hashes, types and sizes are checked before memory is allocated for the
/// values.
/// @param prefix only values whose names begin with it are read; the whole file is checked
/// @throws CheckpointError naming file, part, found, expected and remedy
Snapshot load(const std::filesystem::path& path, std::string_view prefix = "");

/// Reads and checks the header only.
/// @throws CheckpointError
FileInfo read_info(const std::filesystem::path& path);

/// Name and version of the library that reads and writes the files: "HDF5 1.10.8".
std::string library();

/// Checks the header and every hash, without reading values.
/// @throws CheckpointError
FileInfo verify(const std::filesystem::path& path);

}  // namespace traffic::checkpoint
