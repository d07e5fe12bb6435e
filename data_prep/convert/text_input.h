/// TextInput reads a recording as a stream of bytes, from a file or the standard input. It
/// decompresses gzip files.
#pragma once

#include <zlib.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "traffic/os/descriptor.h"

namespace traffic::data_prep {

/// Reads like read(2), but can be interrupted by a stop request (SIGINT, SIGTERM) while it waits.
/// @return number of bytes; 0 at the end; negative if reading failed, with the reason in errno
/// @throws Error with ExitCode::kStopped if a stop is requested
long read_unless_stopped(int fd, std::span<std::byte> room);

class TextInput {
 public:
  /// @param path path of the file; "-" means the standard input
  /// @param shown name for messages; empty means the path
  /// @throws DataError if the input cannot be opened, is empty or is not UTF-8 text. Also throws
  ///   the exceptions of read()
  explicit TextInput(const std::string& path, std::string shown = "");

  [[nodiscard]] const std::string& name() const { return name_; }
  /// Reads the next bytes, at most room.size().
  /// @return number of bytes; 0 at the end
  /// @throws DataError if the file cannot be read, or a gzip file ends too early
  /// @throws Error with ExitCode::kStopped if a stop is requested
  std::size_t read(std::span<char> room);
  /// The first bytes of the text. read() returns them, too.
  [[nodiscard]] std::string_view peek() const { return head_; }
  /// Share of the file that has been read, from 0 to 1; negative if it is unknown. Thread-safe.
  [[nodiscard]] double share_read() const;

 private:
  std::size_t read_decoded(std::span<char> room);
  std::size_t inflate_some(std::span<char> room);
  std::size_t read_stored(std::span<char> room);
  [[noreturn]] void fail(const char* why) const;

  std::string name_;
  os::Descriptor file_;
  std::vector<char> stored_;      ///< bytes of the file that were read but not used yet
  std::size_t stored_begin_ = 0;  ///< first unused byte of stored_
  std::unique_ptr<z_stream, int (*)(z_stream*)> gzip_;  ///< null if the file is plain
  bool between_members_ = false;  ///< whether a member of the gzip file has just ended
  std::string head_;              ///< first bytes of the decompressed text
  std::size_t head_used_ = 0;
  std::int64_t file_bytes_ = -1;
  std::atomic<std::int64_t> bytes_read_{0};
};

}  // namespace traffic::data_prep
