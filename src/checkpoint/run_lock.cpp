#include "traffic/checkpoint/run_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <sstream>
#include <string_view>
#include <system_error>

#include "traffic/core/atomic_file.h"
#include "traffic/core/clock.h"
#include "traffic/core/error.h"
#include "traffic/core/process.h"
#include "traffic/os/process_id.h"

namespace traffic::checkpoint {
namespace {

struct Holder {
  pid_t pid = 0;
  std::uint64_t start_ticks = 0;
  std::string host;
  std::string since;
};

/// "<pid> <start ticks> <host> <UTC time>"; pid 0 if the file is empty or not of that form.
Holder read_holder(int fd) {
  std::array<char, 512> buffer{};
  const ssize_t got = ::pread(fd, buffer.data(), buffer.size(), 0);
  std::istringstream text(std::string(buffer.data(), got > 0 ? static_cast<std::size_t>(got) : 0));
  Holder holder;
  if (!(text >> holder.pid >> holder.start_ticks >> holder.host >> holder.since)) return {};
  return holder;
}

std::string describe(const Holder& holder) {
  if (holder.pid == 0) return "another process";
  return fmt::format("pid {} on {} since {}", holder.pid, holder.host, holder.since);
}

/// Where there is no flock: the process that wrote the file, judged from this machine.
bool is_alive_here(const Holder& holder) {
  return holder.pid != 0 && holder.pid != getpid() && holder.host == hostname() &&
         os::is_running(holder.pid, holder.start_ticks);
}

[[noreturn]] void refuse(const std::filesystem::path& dir, const Holder& holder) {
  throw ResourceError(
      "{} is in use by {}; wait for that run, stop it, or give this one another --run-dir",
      dir.string(), describe(holder));
}

void write_holder(int fd, const std::filesystem::path& path) {
  const std::string text = fmt::format("{} {} {} {}\n", getpid(), os::process_start_ticks(getpid()),
                                       hostname(), utc_timestamp());
  if (::ftruncate(fd, 0) != 0) throw io_error("write", path, errno);
  const ssize_t written = ::pwrite(fd, text.data(), text.size(), 0);
  if (written != static_cast<ssize_t>(text.size())) {
    throw io_error("write", path, written < 0 ? errno : ENOSPC);
  }
}

}  // namespace

RunLock::RunLock(const std::filesystem::path& dir) {
  std::error_code error;
  std::filesystem::create_directories(dir, error);
  if (error) throw io_error("create", dir, error.value());
  const auto path = dir / "run.lock";
  file_ = os::Descriptor(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644));
  if (!file_.is_open()) throw io_error("open", path, errno);
  const bool locked = ::flock(file_.get(), LOCK_EX | LOCK_NB) == 0;
  const bool no_locks_here = !locked && (errno == ENOLCK || errno == EOPNOTSUPP);
  const Holder holder = read_holder(file_.get());
  // Who has the lock knows that nobody else holds it: a zombie, whose number is still taken, has
  // let go.
  if (!locked && (!no_locks_here || is_alive_here(holder))) refuse(dir, holder);
  if (holder.pid != 0) taken_over_from_ = describe(holder);
  write_holder(file_.get(), path);
}

RunLock::~RunLock() {
  // An empty file says that this run ended properly. Failing to empty it only makes the next run
  // report a takeover.
  [[maybe_unused]] const int emptied = ::ftruncate(file_.get(), 0);
}

}  // namespace traffic::checkpoint
