/// One checkpoint, one file: an HDF5 file behind a header of its own
/// (docs/reference/checkpoint-format.md).
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
#include <memory>
#include <string>

#include "traffic/checkpoint/snapshot.h"

namespace traffic::checkpoint {

inline constexpr std::uint32_t kFormatVersion = 1;

class Image;

/// A checkpoint as the file that it becomes, in memory: made in the time of a copy, and written
/// later, in another thread if need be.
class FileImage {
 public:
  /// Copies the values: what becomes of them afterwards is not seen here. Needs as much memory as
  /// they do.
  /// @throws ResourceError where there is not enough
  FileImage(const Snapshot& snapshot);  // implicit: nothing else could be made of a snapshot
  ~FileImage();
  FileImage(FileImage&& other) noexcept;
  FileImage& operator=(FileImage&& other) noexcept;

  [[nodiscard]] std::int64_t step() const;
  /// Sums up the hashes, writes the file beside `path`, makes it durable, gives it its name. The
  /// same snapshot always gives the same bytes.
  /// @throws ResourceError if that fails; a file at `path` is then as it was
  void write(const std::filesystem::path& path) const;

 private:
  std::unique_ptr<Image> image_;
};

/// FileImage(snapshot).write(path)
void save(const Snapshot& snapshot, const std::filesystem::path& path);

/// Reads a whole checkpoint; what the file says is checked before memory is taken for it.
/// @throws CheckpointError naming file, part, found, expected and remedy
Snapshot load(const std::filesystem::path& path);

struct FileInfo {
  std::int64_t step = 0;
  std::int64_t bytes = 0;
  std::uint64_t hash =
      0;  ///< of the header, and so of all hashes in it: equal for equal files only
};

/// Checks the header only.
/// @throws CheckpointError
FileInfo read_info(const std::filesystem::path& path);

/// "HDF5 1.10.8": what reads and writes the files.
std::string library();

/// Checks the header and every hash without reading values.
/// @throws CheckpointError
FileInfo verify(const std::filesystem::path& path);

}  // namespace traffic::checkpoint
