// RunLock: prevents two processes from writing to the folder of one run (run_lock.h).
#include "traffic/checkpoint/run_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <optional>
#include <system_error>

#include "traffic/core/atomic_file.h"
#include "traffic/core/error.h"
#include "traffic/core/lock_holder.h"

namespace traffic::checkpoint {
namespace {

std::optional<LockHolder> read_holder(int fd) {
  std::array<char, 512> buffer{};
  const ssize_t got = ::pread(fd, buffer.data(), buffer.size(), 0);
  return parse_lock_holder({buffer.data(), got > 0 ? static_cast<std::size_t>(got) : 0});
}

/// Whether another process wrote run.lock and still runs on this machine. Only file systems without
/// flock need this check.
bool is_another_here(const std::optional<LockHolder>& holder) {
  return holder && holder->pid != getpid() && holder->is_running_here();
}

[[noreturn]] void refuse(const std::filesystem::path& dir,
                         const std::optional<LockHolder>& holder) {
  throw ResourceError(
      "{} is in use by {}; wait for that run, stop it, or give this one another --run-dir",
      dir.string(), holder ? holder->describe() : "another process");
}

void write_holder(int fd, const std::filesystem::path& path) {
  const std::string text = to_text(self_as_lock_holder());
  if (::ftruncate(fd, 0) != 0) throw io_error("write", path, errno);
  const ssize_t written = ::pwrite(fd, text.data(), text.size(), 0);
  if (written != static_cast<ssize_t>(text.size())) {
    throw io_error("write", path, written < 0 ? errno : ENOSPC);
  }
}

enum class Lock { kTaken, kHeldByAnother, kUnknownHere };

/// Tries to lock a file. Returns kUnknownHere on a file system without flock: Lustre mounted
/// without -o flock returns ENOSYS, and other file systems return EOPNOTSUPP or ENOLCK.
Lock take_lock(int fd, const std::filesystem::path& path) {
  int rc = 0;
  do {
    rc = ::flock(fd, LOCK_EX | LOCK_NB);
  } while (rc != 0 && errno == EINTR);
  if (rc == 0) return Lock::kTaken;
  if (errno == EWOULDBLOCK) return Lock::kHeldByAnother;
  if (errno == ENOLCK || errno == EOPNOTSUPP || errno == ENOSYS) return Lock::kUnknownHere;
  throw io_error("lock", path, errno);
}

/// Locks the folder itself. This prevents a second run from starting after somebody removed
/// run.lock. Some network file systems cannot lock folders; there the lock of run.lock is enough.
/// @return false only if another process holds the lock
bool holds_folder(const os::Descriptor& folder) {
  return ::flock(folder.get(), LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK;
}

}  // namespace

RunLock::RunLock(const std::filesystem::path& dir) {
  std::error_code error;
  std::filesystem::create_directories(dir, error);
  if (error) throw io_error("create", dir, error.value());
  const auto path = dir / "run.lock";
  // RunLock empties run.lock. With O_NOFOLLOW this can never happen to the target of a link.
  file_ = os::Descriptor(::open(path.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0644));
  if (!file_.is_open()) throw io_error("open", path, errno);
  const Lock lock = take_lock(file_.get(), path);
  const std::optional<LockHolder> holder = read_holder(file_.get());
  // If this process got the lock (kTaken), the process that run.lock names has died, even if it
  // still exists as a zombie.
  if (lock == Lock::kHeldByAnother) refuse(dir, holder);
  if (lock == Lock::kUnknownHere && is_another_here(holder)) refuse(dir, holder);
  folder_ = os::Descriptor(::open(dir.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!folder_.is_open()) throw io_error("open", dir, errno);
  if (!holds_folder(folder_)) refuse(dir, std::nullopt);
  if (holder) taken_over_from_ = holder->describe();
  write_holder(file_.get(), path);
}

RunLock::~RunLock() {
  // An empty file means an orderly end. If emptying it fails, the next run reports a takeover.
  [[maybe_unused]] const int emptied = ::ftruncate(file_.get(), 0);
}

}  // namespace traffic::checkpoint
