// AppendFile: a file to which a run appends entries, and which may fail without ending the run.
#include "append_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <system_error>
#include <utility>

#include "traffic/core/clock.h"

namespace traffic::report {
namespace {

constexpr double kRetryIntervalSeconds = 1.0;

}  // namespace

AppendFile::AppendFile(std::filesystem::path path, std::string preamble, std::uint64_t max_bytes)
    : path_(std::move(path)),
      preamble_(std::move(preamble)),
      max_bytes_(max_bytes),
      last_attempt_s_(steady_seconds() - kRetryIntervalSeconds) {
  open();
}

bool AppendFile::open() noexcept {
  const double now_s = steady_seconds();
  if (now_s - last_attempt_s_ < kRetryIntervalSeconds) return false;
  last_attempt_s_ = now_s;
  fd_.reset();
  try {
    std::error_code error;
    if (path_.has_parent_path()) std::filesystem::create_directories(path_.parent_path(), error);
  } catch (...) {  // not enough memory for a path
    return false;
  }
  fd_ = os::Descriptor(::open(path_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644));
  if (!fd_.is_open()) return false;
  struct stat info {};
  const bool empty = ::fstat(fd_.get(), &info) == 0 && info.st_size == 0;
  if (empty && !preamble_.empty() && !write_all(preamble_)) {
    fd_.reset();
    return false;
  }
  return true;
}

bool AppendFile::is_removed() const noexcept {
  struct stat info {};
  return ::fstat(fd_.get(), &info) != 0 || info.st_nlink == 0;
}

bool AppendFile::write_all(std::string_view data) noexcept {
  std::size_t done = 0;
  while (done < data.size()) {
    const ssize_t written = ::write(fd_.get(), data.data() + done, data.size() - done);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) {
      // Removes the part that was written, because readers of the file could not parse half an
      // entry.
      const off_t end = ::lseek(fd_.get(), 0, SEEK_END);
      if (done > 0 && end >= static_cast<off_t>(done)) {
        [[maybe_unused]] const int rc = ::ftruncate(fd_.get(), end - static_cast<off_t>(done));
      }
      return false;
    }
    done += static_cast<std::size_t>(written);
  }
  return true;
}

/// If `more` bytes would make the file too large, renames it and opens a new file. If another
/// process has already renamed the file, only opens the new one.
void AppendFile::put_aside_if_full(std::size_t more) noexcept {
  struct stat info {};
  if (max_bytes_ == 0 || !fd_.is_open() || ::fstat(fd_.get(), &info) != 0) return;
  if (static_cast<std::uint64_t>(info.st_size) + more <= max_bytes_) return;
  try {
    const std::string aside = path_.string() + ".1";
    struct stat named {};
    const bool is_still_it = ::stat(path_.c_str(), &named) == 0 && named.st_ino == info.st_ino;
    if (is_still_it && ::rename(path_.c_str(), aside.c_str()) != 0) return;
  } catch (...) {  // not enough memory for a path
    return;
  }
  last_attempt_s_ -= kRetryIntervalSeconds;  // open() then tries at once
  open();
}

bool AppendFile::append(std::string_view data) noexcept {
  put_aside_if_full(data.size());
  const bool usable = (fd_.is_open() && !is_removed()) || open();
  if (usable && write_all(data)) return true;
  ++num_lost_;
  return false;
}

}  // namespace traffic::report
