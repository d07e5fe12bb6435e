/// A file for logs, metrics and events, to which a run only appends. Its failures never stop a
/// training.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "traffic/os/descriptor.h"

namespace traffic::report {

/// Survives a full disk, a removed folder and a revoked permission: it drops and counts entries
/// that cannot be written. At most once a second it creates the folder and opens the file again.
/// Never throws. Not thread-safe; the owner must lock.
class AppendFile {
 public:
  /// @param preamble written whenever the file is new and empty, e.g. the header of a CSV file
  /// @param max_bytes size at which the file is renamed to <path>.1, replacing an older one, and a
  /// new file begins; 0: never
  explicit AppendFile(std::filesystem::path path, std::string preamble = "",
                      std::uint64_t max_bytes = 0);

  /// Appends all of `data` or nothing; this holds as long as no other process appends to the file.
  /// @return whether it was written
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
  double last_attempt_s_;
  std::uint64_t num_lost_ = 0;
};

}  // namespace traffic::report
