/// AppendFile: a file to which a run appends logs, metrics or events. If it cannot be written, the
/// entries are lost, but the training continues.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "traffic/os/descriptor.h"

namespace traffic::report {

/// If the disk is full, the folder was removed or a permission was revoked, the class drops and
/// counts entries. At most once a second it tries to create the folder and to open the file again.
/// append() never throws. Not thread-safe.
class AppendFile {
 public:
  /// @param preamble written whenever the file is new and empty, e.g. the header of a CSV file
  /// @param max_bytes maximum size. A file that would exceed it is renamed to <path>.1, replacing
  ///   an older file of this name, and a new file begins. 0 means no maximum
  explicit AppendFile(std::filesystem::path path, std::string preamble = "",
                      std::uint64_t max_bytes = 0);

  /// Appends all of `data` or nothing. If another process appends to the same file and the disk is
  /// full, a part of `data` may remain in the file.
  /// @return whether `data` was written
  bool append(std::string_view data) noexcept;
  /// Number of calls of append() that wrote nothing.
  [[nodiscard]] std::uint64_t num_lost() const { return num_lost_; }

 private:
  bool open() noexcept;
  [[nodiscard]] bool is_removed() const noexcept;
  bool write_all(std::string_view data) noexcept;
  void put_aside_if_full(std::size_t more) noexcept;

  std::filesystem::path path_;
  std::string preamble_;
  std::uint64_t max_bytes_;
  os::Descriptor fd_;
  double last_attempt_s_;  ///< steady_seconds() when open() last tried
  std::uint64_t num_lost_ = 0;
};

}  // namespace traffic::report
