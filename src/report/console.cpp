#include "console.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <utility>

namespace traffic::report {
namespace {

constexpr std::string_view kClearLine = "\r\033[K";
constexpr int kDefaultWidth = 80;

/// Under mpirun stderr is a pipe and what counts is where mpirun, our parent, prints it.
bool mpirun_prints_to_terminal() {
  if (std::getenv("OMPI_COMM_WORLD_RANK") == nullptr) return false;
  std::array<char, 64> target{};
  const ssize_t length = ::readlink(fmt::format("/proc/{}/fd/2", ::getppid()).c_str(),
                                    target.data(), target.size() - 1);
  const std::string_view name(target.data(), length > 0 ? static_cast<std::size_t>(length) : 0);
  return name.starts_with("/dev/pts/") || name.starts_with("/dev/tty");
}

}  // namespace

Console& Console::instance() {
  static Console* const console = new Console();  // never destroyed: exit handlers may still log
  return *console;
}

bool Console::is_terminal() {
  const char* kind = std::getenv("TERM");
  if (kind == nullptr || std::string_view(kind) == "dumb") return false;
  return ::isatty(STDERR_FILENO) == 1 || mpirun_prints_to_terminal();
}

int Console::width() {
  winsize size{};
  if (::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  return kDefaultWidth;
}

std::uint64_t Console::num_lost() const {
  const std::lock_guard lock(mutex_);
  return num_lost_;
}

void Console::write(std::string_view text) noexcept {
  while (!text.empty()) {
    const ssize_t written = ::write(STDERR_FILENO, text.data(), text.size());
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
