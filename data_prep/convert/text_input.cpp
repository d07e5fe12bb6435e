// Reads a recording as a sequence of bytes, and decompresses gzip files (text_input.h).
#include "text_input.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "traffic/core/error.h"
#include "traffic/core/signals.h"

namespace traffic::data_prep {
namespace {

constexpr std::size_t kStoredBytes = 1 << 18;
constexpr std::size_t kHeadBytes = 4096;
constexpr int kLookForStop_ms = 200;
constexpr std::string_view kGzipMagic = "\x1f\x8b";

/// Opens the file or the standard input. Does not wait until a named pipe has a writer, because the
/// user could not interrupt this wait; read_unless_stopped() waits instead.
int open_input(const std::string& path) {
  if (path == "-") return ::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0);
  return ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
}

std::unique_ptr<z_stream, int (*)(z_stream*)> make_gzip() {
  std::unique_ptr<z_stream, int (*)(z_stream*)> gzip(new z_stream{}, [](z_stream* stream) {
    const int code = inflateEnd(stream);
    delete stream;
    return code;
  });
  constexpr int kGzipFormat = 16;
  if (inflateInit2(gzip.get(), MAX_WBITS + kGzipFormat) != Z_OK) throw std::bad_alloc();
  return gzip;
}

}  // namespace

long read_unless_stopped(int fd, std::span<std::byte> room) {
  while (true) {
    pollfd waiting{.fd = fd, .events = POLLIN, .revents = 0};
    const int ready = ::poll(&waiting, 1, kLookForStop_ms);
    if (stop_requested()) throw Error("stopped by request", ExitCode::kStopped);
    if (ready == 0 || (ready < 0 && errno == EINTR)) continue;
    const long n = ::read(fd, room.data(), room.size());
    if (n >= 0 || (errno != EAGAIN && errno != EINTR)) return n;
  }
}

TextInput::TextInput(const std::string& path, std::string shown)
    : name_(!shown.empty() ? std::move(shown)
            : path == "-"  ? "standard input"
                           : path),
      file_(open_input(path)),
      gzip_(nullptr, nullptr) {
  struct stat status {};
  if (file_.is_open() && fstat(file_.get(), &status) == 0 && S_ISDIR(status.st_mode)) {
    file_.reset();
    errno = EISDIR;
  }
  if (!file_.is_open()) {
    throw DataError("{}: cannot be opened: {}; name existing files, or - for the standard input",
                    name_, std::strerror(errno));
  }
  if (path != "-" && S_ISREG(status.st_mode)) file_bytes_ = status.st_size;
  std::string magic(kGzipMagic.size(), '\0');
  std::size_t known = 0;
  while (known < magic.size()) {
    const std::size_t n = read_stored(std::span(magic).subspan(known));
    if (n == 0) break;
    known += n;
  }
  magic.resize(known);
  stored_.assign(magic.begin(), magic.end());
  if (magic == kGzipMagic) gzip_ = make_gzip();
  head_.resize(kHeadBytes);
  std::size_t filled = 0;
  while (filled < kHeadBytes) {
    const std::size_t n = read_decoded(std::span(head_).subspan(filled));
    if (n == 0) break;
    filled += n;
  }
  head_.resize(filled);
  if (filled == 0) throw DataError("{}: is empty; expected recorded traffic", name_);
  if (head_.starts_with("PAR1")) {
    throw DataError("{}: is a Parquet table; let SUMO write XML or CSV (--fcd-output NAME.xml)",
                    name_);
  }
  if (head_.starts_with("\xFF\xFE") || head_.starts_with("\xFE\xFF") ||
      head_.find('\0') != std::string::npos) {
    throw DataError(
        "{}: is UTF-16 or not a text; convert UTF-16 to UTF-8 (iconv -f UTF-16 -t UTF-8), and "
        "unpack archives other than gzip",
        name_);
  }
}

std::size_t TextInput::read(std::span<char> room) {
  if (head_used_ < head_.size()) {
    const std::size_t n = std::min(room.size(), head_.size() - head_used_);
    std::copy_n(head_.data() + head_used_, n, room.data());
    head_used_ += n;
    return n;
  }
  return read_decoded(room);
}

std::size_t TextInput::read_decoded(std::span<char> room) {
  if (gzip_) return inflate_some(room);
  if (stored_begin_ == stored_.size()) return read_stored(room);
  const std::size_t n = std::min(room.size(), stored_.size() - stored_begin_);
  std::copy_n(stored_.data() + stored_begin_, n, room.data());
  stored_begin_ += n;
  return n;
}

/// Reads and decompresses bytes of a gzip file. The file may consist of several gzip files one
/// after the other (members), and padding after the last member.
std::size_t TextInput::inflate_some(std::span<char> room) {
  gzip_->next_out = reinterpret_cast<Bytef*>(room.data());
  gzip_->avail_out = static_cast<uInt>(room.size());
  while (gzip_->avail_out == room.size()) {
    if (stored_begin_ == stored_.size()) {
      stored_.resize(kStoredBytes);
      stored_.resize(read_stored(stored_));
      stored_begin_ = 0;
      if (stored_.empty() && between_members_) return 0;
      if (stored_.empty()) fail("unexpected end of file");
    }
    if (between_members_) {
      if (stored_[stored_begin_] != kGzipMagic.front()) return 0;
      inflateReset(gzip_.get());
      between_members_ = false;
    }
    gzip_->next_in = reinterpret_cast<Bytef*>(stored_.data() + stored_begin_);
    gzip_->avail_in = static_cast<uInt>(stored_.size() - stored_begin_);
    const int code = inflate(gzip_.get(), Z_NO_FLUSH);
    stored_begin_ = stored_.size() - gzip_->avail_in;
    if (code == Z_STREAM_END) {
      between_members_ = true;
    } else if (code != Z_OK && code != Z_BUF_ERROR) {
      fail(gzip_->msg != nullptr ? gzip_->msg : zError(code));
    }
  }
  return room.size() - gzip_->avail_out;
}

std::size_t TextInput::read_stored(std::span<char> room) {
  const long n = read_unless_stopped(file_.get(), std::as_writable_bytes(room));
  if (n < 0) fail(std::strerror(errno));
  bytes_read_ += n;
  return static_cast<std::size_t>(n);
}

void TextInput::fail(const char* why) const {
  throw DataError(
      "{}: the rest cannot be read: {}; the file is damaged or was cut off, make it again", name_,
      why);
}

double TextInput::share_read() const {
  if (file_bytes_ <= 0) return -1;
  return std::min(1.0, static_cast<double>(bytes_read_) / static_cast<double>(file_bytes_));
}

}  // namespace traffic::data_prep
