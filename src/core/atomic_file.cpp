// Writes files so that a reader never sees half of a file (atomic_file.h).
#include "traffic/core/atomic_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <system_error>

#include "traffic/core/hash.h"
#include "traffic/core/process.h"
#include "traffic/os/descriptor.h"
#include "traffic/os/process_id.h"

namespace traffic {
namespace {

namespace fs = std::filesystem;

/// An open file. close() throws if the system reports an error of an earlier, deferred write.
class OpenFile {
 public:
  OpenFile(const fs::path& path, int flags) : path_(path) {
    do {
      fd_ = os::Descriptor(::open(path.c_str(), flags | O_CLOEXEC, 0644));
    } while (!fd_.is_open() && errno == EINTR);
    if (!fd_.is_open()) throw io_error("open", path, errno);
  }

  void write(std::span<const std::byte> bytes) {
    if (!os::write_all(fd_.get(), bytes)) throw io_error("write", path_, errno);
  }
  void sync() {
    int rc = 0;
    do {
      rc = ::fsync(fd_.get());
    } while (rc != 0 && errno == EINTR);
    if (rc != 0) throw io_error("fsync", path_, errno);
  }
  void close() {
    // EINTR is no error here: Linux has closed the descriptor.
    if (::close(fd_.release()) != 0 && errno != EINTR) throw io_error("close", path_, errno);
  }

 private:
  fs::path path_;
  os::Descriptor fd_;
};

fs::path folder_of(const fs::path& path) {
  return path.has_parent_path() ? path.parent_path() : fs::path(".");
}

std::uint32_t host_tag() { return static_cast<std::uint32_t>(xxh3_64(hostname())); }

/// ".tmp-<pid>-<start of the process>-<host>-<number>-<name>". By this name
/// remove_stale_temporaries() finds out whether the process that made the file still runs.
fs::path temporary_path(const fs::path& target) {
  static std::atomic<unsigned> counter{0};
  const pid_t pid = getpid();
  return folder_of(target) / fmt::format(".tmp-{}-{}-{:08x}-{}-{}", pid,
                                         os::process_start_ticks(pid), host_tag(),
                                         counter.fetch_add(1), target.filename().string());
}

bool is_stale(const fs::path& path) {
  int pid = 0;
  unsigned long long start = 0;
  unsigned host = 0;
  if (std::sscanf(path.filename().c_str(), ".tmp-%d-%llu-%8x-", &pid, &start, &host) != 3) {
    return false;
  }
  if (host == host_tag()) return !os::is_running(pid, static_cast<std::uint64_t>(start));
  std::error_code error;
  const auto written = fs::last_write_time(path, error);
  return !error && fs::file_time_type::clock::now() - written > std::chrono::hours(24);
}

std::string_view remedy(int error_number) {
  switch (error_number) {
    case ENOSPC:
      return "free some space there or choose another folder";
    case EDQUOT:
      return "the disk quota is used up: free some space or choose another folder";
    case EACCES:
    case EPERM:
    case EROFS:
      return "choose a folder that you may write to";
    case ENOENT:
      return "check that the folder exists";
    case ENOTDIR:
      return "a part of the path is a file, not a folder";
    case ELOOP:
      return "a symbolic link is in the way: remove it";
    case EISDIR:
      return "the path is a folder, not a file";
    case EMFILE:
    case ENFILE:
      return "too many open files: raise the limit (ulimit -n)";
    case EIO:
      return "the disk or network file system is failing: check it (dmesg)";
    default:
      return "check the file system";
  }
}

}  // namespace

ResourceError io_error(std::string_view action, const fs::path& path, int error_number) {
  return ResourceError("cannot {} {}: {} (errno {}); {}", action, path.string(),
                       std::generic_category().message(error_number), error_number,
                       remedy(error_number));
}

AtomicFile::AtomicFile(fs::path target)
    : target_(std::move(target)), temp_path_(temporary_path(target_)) {}

AtomicFile::~AtomicFile() {
  if (!committed_) ::unlink(temp_path_.c_str());
}

void AtomicFile::commit() {
  OpenFile file(temp_path_, O_RDONLY);
  file.sync();
  file.close();
  if (::rename(temp_path_.c_str(), target_.c_str()) != 0) throw io_error("replace", target_, errno);
  committed_ = true;
  OpenFile folder(folder_of(target_), O_RDONLY | O_DIRECTORY);
  folder.sync();
  folder.close();
}

void write_file_atomically(const fs::path& path, std::span<const std::byte> bytes) {
  AtomicFile file(path);
  OpenFile out(file.temp_path(), O_WRONLY | O_CREAT | O_EXCL);
  out.write(bytes);
  // commit() syncs too, but through another descriptor, which may not get errors of these writes.
  out.sync();
  out.close();
  file.commit();
}

void write_file_atomically(const fs::path& path, std::string_view text) {
  write_file_atomically(path, std::as_bytes(std::span(text)));
}

int remove_stale_temporaries(const fs::path& dir) {
  int removed = 0;
  std::error_code error;
  for (fs::directory_iterator it(dir, error), end; !error && it != end; it.increment(error)) {
    std::error_code remove_error;
    if (is_stale(it->path()) && fs::remove(it->path(), remove_error)) ++removed;
  }
  if (error && error != std::errc::no_such_file_or_directory) {
    throw io_error("list", dir, error.value());
  }
  return removed;
}

}  // namespace traffic
