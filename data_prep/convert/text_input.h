/// A file, plain or gzip, or the standard input, as a stream of bytes.
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

/// As read(2); but while nothing comes it looks whether a stop is requested.
/// @return 0 at the end; negative: errno says why
/// @throws Error (kStopped)
long read_unless_stopped(int fd, std::span<std::byte> room);

class TextInput {
 public:
  /// @param path "-": standard input
  /// @param shown the name in messages; empty: the path
  /// @throws DataError if it cannot be opened or is empty; as read()
  explicit TextInput(const std::string& path, std::string shown = "");

  [[nodiscard]] const std::string& name() const { return name_; }
  /// The next bytes, at most as many as there is room for. @return 0 at the end
  /// @throws DataError if it cannot be read, or a gzip file ends too early; Error (kStopped) if a
  /// stop is requested while nothing comes
  std::size_t read(std::span<char> room);
  /// The first bytes, which read() gives again; call it before that.
  [[nodiscard]] std::string_view peek() const { return head_; }
  /// Of the compressed bytes; negative: not known. From any thread.
  [[nodiscard]] double share_read() const;

 private:
  std::size_t read_decoded(std::span<char> room);
  std::size_t inflate_some(std::span<char> room);
  std::size_t read_stored(std::span<char> room);
  [[noreturn]] void fail(const char* why) const;

  std::string name_;
  os::Descriptor file_;
  std::vector<char> stored_;      ///< bytes as they are in the file, read but not used yet
  std::size_t stored_begin_ = 0;  ///< of them, the first that was not used
  std::unique_ptr<z_stream, int (*)(z_stream*)> gzip_;  ///< null: the file is plain
  bool between_members_ = false;                        ///< of a gzip file: it may end here
  std::string head_;
  std::size_t head_used_ = 0;
  std::int64_t file_bytes_ = -1;
  std::atomic<std::int64_t> bytes_read_{0};
};

}  // namespace traffic::data_prep
