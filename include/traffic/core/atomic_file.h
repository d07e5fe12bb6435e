/// Files that are replaced as a whole: the new content is written beside the old file, made durable
/// with fsync and renamed. A reader never sees half of a file.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string_view>

#include "traffic/core/error.h"

namespace traffic {

/// The error of a failed system call on a path, with advice: io_error("write", path, errno).
ResourceError io_error(std::string_view action, const std::filesystem::path& path,
                       int error_number);

/// Replaces the content of the file at `path` by `bytes`. After a failure no temporary file is
/// left, and the old file is untouched, unless only the fsync after the rename failed.
/// @throws ResourceError with path, cause and remedy
void write_file_atomically(const std::filesystem::path& path, std::span<const std::byte> bytes);
void write_file_atomically(const std::filesystem::path& path, std::string_view text);

/// For writers that need a path of their own (HDF5): write and close temp_path(), then commit().
/// Without commit() the destructor removes the temporary file.
class AtomicFile {
 public:
  explicit AtomicFile(std::filesystem::path target);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  [[nodiscard]] const std::filesystem::path& temp_path() const noexcept { return temp_path_; }
  /// Makes the temporary file durable and gives it the target's name.
  /// @throws ResourceError; the target is then untouched, unless only the fsync after the rename
  /// failed
  void commit();

 private:
  std::filesystem::path target_;
  std::filesystem::path temp_path_;
  bool committed_ = false;
};

/// Removes temporary files that killed processes left in `dir`, but not below it. Files of running
/// processes stay, and files of other machines stay until they are a day old.
/// @return number of files removed
int remove_stale_temporaries(const std::filesystem::path& dir);

}  // namespace traffic
