// Console: prints log lines and the progress line to stderr without overwriting each other.
#include "console.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <utility>

#include "traffic/os/descriptor.h"

namespace traffic::report {
namespace {

constexpr std::string_view kClearLine = "\r\033[K";
constexpr int kDefaultWidth = 80;
constexpr int kPatience_ms = 1000;  ///< longest wait for a reader of stderr
/// Number of bytes that a pipe accepts without blocking when poll() reports that it is ready.
constexpr std::size_t kMostAtOnce = PIPE_BUF;

/// Path of mpirun's own stderr; empty without mpirun. Under mpirun the stderr of this process is a
/// pipe to its parent process, mpirun, which copies the text to its own stderr.
std::string stderr_of_mpirun() {
  if (std::getenv("OMPI_COMM_WORLD_RANK") == nullptr) return "";
  return fmt::format("/proc/{}/fd/2", ::getppid());
}

bool is_terminal_device(const std::string& link) {
  std::array<char, 64> target{};
  const ssize_t length = ::readlink(link.c_str(), target.data(), target.size() - 1);
  const std::string_view name(target.data(), length > 0 ? static_cast<std::size_t>(length) : 0);
  return name.starts_with("/dev/pts/") || name.starts_with("/dev/tty");
}

/// Columns of the terminal behind a descriptor; 0 if there is no terminal.
int columns_of(int fd) {
  winsize size{};
  return ::ioctl(fd, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

}  // namespace

Console& Console::instance() {
  static auto* const console = new Console();  // never destroyed: exit handlers may still log
  return *console;
}

bool Console::is_terminal() {
  const char* kind = std::getenv("TERM");
  if (kind == nullptr || std::string_view(kind) == "dumb") return false;
  return ::isatty(STDERR_FILENO) == 1 || is_terminal_device(stderr_of_mpirun());
}

int Console::width() {
  int columns = columns_of(STDERR_FILENO);
  if (const std::string link = stderr_of_mpirun(); columns == 0 && !link.empty()) {
    const os::Descriptor terminal(
        ::open(link.c_str(), O_WRONLY | O_NOCTTY | O_NONBLOCK | O_CLOEXEC));
    if (terminal.is_open()) columns = columns_of(terminal.get());
  }
  return columns > 0 ? columns : kDefaultWidth;
}

std::uint64_t Console::num_lost() const {
  const std::lock_guard lock(mutex_);
  return num_lost_;
}

/// Whether this process can write to stderr without blocking. Writes block if nobody reads the
/// output, e.g. because a pager is stopped or the user has pressed ^S. The function waits up to a
/// second for a slow reader, unless its last call has waited in vain.
bool Console::is_read() noexcept {
  pollfd out{.fd = STDERR_FILENO, .events = POLLOUT, .revents = 0};
  const int patience_ms = stalled_ ? 0 : kPatience_ms;
  stalled_ = ::poll(&out, 1, patience_ms) == 0;
  return !stalled_;
}

void Console::write(std::string_view text) noexcept {
  while (!text.empty()) {
    if (!is_read()) {
      ++num_lost_;
      return;
    }
    const ssize_t written = ::write(STDERR_FILENO, text.data(), std::min(text.size(), kMostAtOnce));
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) {
      ++num_lost_;
      return;
    }
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

void Console::line(std::string_view text) noexcept {
  const std::lock_guard lock(mutex_);
  if (!progress_.empty()) write(kClearLine);
  write(text);
  write(progress_);
}

void Console::progress(std::string text) noexcept {
  const std::lock_guard lock(mutex_);
  if (!progress_.empty() || !text.empty()) write(kClearLine);
  progress_ = std::move(text);
  write(progress_);
}

}  // namespace traffic::report
