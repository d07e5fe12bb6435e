/// Reads a file, plain or gzip, or the standard input as a stream of bytes.
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

/// Reads like read(2), but looks for a requested stop while it waits.
/// @return 0 at the end; negative: errno has the reason
/// @throws Error (kStopped)
long read_unless_stopped(int fd, std::span<std::byte> room);

class TextInput {
 public:
  /// @param path "-": standard input
  /// @param shown the name in messages; empty: the path
  /// @throws DataError if it cannot be opened, is empty or is no UTF-8 text; also throws what
  /// read() throws
  explicit TextInput(const std::string& path, std::string shown = "");

  [[nodiscard]] const std::string& name() const { return name_; }
  /// Reads the next bytes, at most as many as `room` holds. @return their number; 0 at the end
  /// @throws DataError if the file cannot be read, or a gzip file ends too early
  /// @throws Error (kStopped) if a stop is requested while it waits
  std::size_t read(std::span<char> room);
  /// The first bytes of the text. Call it before read(), which returns them again.
  [[nodiscard]] std::string_view peek() const { return head_; }
  /// Share of the stored bytes that have been read, 0 to 1; negative: unknown. Thread-safe.
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
  bool between_members_ = false;                        ///< a gzip file may end here
  std::string head_;
  std::size_t head_used_ = 0;
  std::int64_t file_bytes_ = -1;
  std::atomic<std::int64_t> bytes_read_{0};
};

}  // namespace traffic::data_prep
