/// Writes files so that a reader never sees half of a file. The new content goes to a temporary
/// file in the same folder, which is made durable with fsync and then renamed to the target.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string_view>

#include "traffic/core/error.h"

namespace traffic {

/// Makes the error of a system call that failed on a path, with advice for the user in its message:
/// io_error("write", path, errno).
ResourceError io_error(std::string_view action, const std::filesystem::path& path,
                       int error_number);

/// Replaces the content of the file at `path` by `bytes`. After a failure no temporary file is
/// left, and the old file is untouched. Only if the fsync after the rename fails, the new file is
/// already in place, but a power failure may still undo the rename.
/// @throws ResourceError with path, cause and remedy
void write_file_atomically(const std::filesystem::path& path, std::span<const std::byte> bytes);
void write_file_atomically(const std::filesystem::path& path, std::string_view text);

/// Replaces a file by one that a library such as HDF5 writes, which needs a path. The caller lets
/// the library write and close the file temp_path(), then calls commit(). Without commit() the
/// destructor removes the temporary file.
class AtomicFile {
 public:
  explicit AtomicFile(std::filesystem::path target);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  [[nodiscard]] const std::filesystem::path& temp_path() const noexcept { return temp_path_; }
  /// Makes the temporary file durable and gives it the target's name.
  /// @throws ResourceError; the target is then unchanged, unless only the fsync after the rename
  ///   failed (see write_file_atomically())
  void commit();

 private:
  std::filesystem::path target_;
  std::filesystem::path temp_path_;
  bool committed_ = false;
};

/// Removes temporary files that killed processes left in `dir`; does not look into its subfolders.
/// Files of running processes stay. Files of processes on other machines stay until they are a day
/// old.
/// @return number of files removed
int remove_stale_temporaries(const std::filesystem::path& dir);

}  // namespace traffic
