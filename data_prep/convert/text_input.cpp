#include "text_input.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "traffic/core/error.h"

namespace traffic::data_prep {
namespace {

constexpr unsigned kBufferBytes = 1 << 18;
constexpr std::size_t kHeadBytes = 4096;

gzFile open_input(const std::string& path) {
  if (path == "-") return gzdopen(dup(STDIN_FILENO), "rb");
  if (std::filesystem::is_directory(path)) errno = EISDIR;
  return std::filesystem::is_directory(path) ? nullptr : gzopen(path.c_str(), "rb");
}

}  // namespace

TextInput::TextInput(const std::string& path, std::string shown)
    : name_(!shown.empty() ? std::move(shown)
            : path == "-"  ? "standard input"
                           : path),
      file_(open_input(path), gzclose) {
  if (!file_) {
    throw DataError("{}: cannot be opened: {}; give files that are there, or - for a pipe", name_,
                    std::strerror(errno));
  }
  gzbuffer(file_.get(), kBufferBytes);
  struct stat status {};
  if (path != "-" && stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode)) {
    file_bytes_ = status.st_size;
  }
  head_.resize(kHeadBytes);
  std::size_t filled = 0;
  while (filled < kHeadBytes) {
    const std::size_t n = read_file(std::span(head_).subspan(filled));
    if (n == 0) break;
    filled += n;
  }
  head_.resize(filled);
  if (filled == 0) throw DataError("{}: is empty; expected recorded traffic", name_);
}

std::size_t TextInput::read(std::span<char> room) {
  if (head_used_ < head_.size()) {
    const std::size_t n = std::min(room.size(), head_.size() - head_used_);
    std::copy_n(head_.data() + head_used_, n, room.data());
    head_used_ += n;
    return n;
  }
  return read_file(room);
}

std::size_t TextInput::read_file(std::span<char> room) {
  const int n = gzread(file_.get(), room.data(), static_cast<unsigned>(room.size()));
  int code = Z_OK;
  const char* why = gzerror(file_.get(), &code);
  if (n < 0 || (n == 0 && code != Z_OK && code != Z_STREAM_END)) {
    throw DataError("{}: cannot be read on: {}; it is damaged or was cut off, make it again", name_,
                    code == Z_ERRNO ? std::strerror(errno) : why);
  }
  bytes_read_ = gzoffset(file_.get());
  return static_cast<std::size_t>(n);
}

double TextInput::share_read() const {
  if (file_bytes_ <= 0) return -1;
  return std::min(1.0, static_cast<double>(bytes_read_) / static_cast<double>(file_bytes_));
}

}  // namespace traffic::data_prep
