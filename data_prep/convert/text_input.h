/// A file, plain or gzip, or the standard input, as a stream of bytes.
#pragma once

#include <zlib.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace traffic::data_prep {

class TextInput {
 public:
  /// @param path "-": standard input
  /// @param shown the name in messages; empty: the path
  /// @throws DataError if it cannot be opened or is empty
  explicit TextInput(const std::string& path, std::string shown = "");

  [[nodiscard]] const std::string& name() const { return name_; }
  /// The next bytes, at most as many as there is room for. @return 0 at the end
  /// @throws DataError if it cannot be read, or a gzip file ends too early
  std::size_t read(std::span<char> room);
  /// The first bytes, which read() gives again; call it before that.
  [[nodiscard]] std::string_view peek() const { return head_; }
  /// Of the compressed bytes; negative: not known. From any thread.
  [[nodiscard]] double share_read() const;

 private:
  std::size_t read_file(std::span<char> room);

  std::string name_;
  std::unique_ptr<gzFile_s, int (*)(gzFile)> file_;
  std::string head_;
  std::size_t head_used_ = 0;
  std::int64_t file_bytes_ = -1;
  std::atomic<std::int64_t> bytes_read_{0};
};

}  // namespace traffic::data_prep
