// Makes a process that crashes write a report with the stack (crash.h).
#include "traffic/core/crash.h"

#include <execinfo.h>
#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <string_view>

namespace traffic {
namespace {

constexpr int kMostFrames = 64;
constexpr std::size_t kStackBytes = std::size_t{64} << 10U;
constexpr std::array<int, 5> kCrashes{SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT};

/// How long a second thread that crashes waits for the report of the first. Even on a file system
/// that responds slowly at first, a report takes less time.
constexpr time_t kLongestReport_s = 10;

// The handler may not allocate memory, so it uses these buffers.
std::array<char, 64> crashing_process{};
std::array<char, 4096> crash_log_path{};
std::array<char, kStackBytes> crash_stack{};  // a crash may be due to a full stack
std::atomic<pid_t> reporting_thread{0};       // the first thread that crashed
static_assert(std::atomic<pid_t>::is_always_lock_free);

void put(int fd, std::string_view text) {
  [[maybe_unused]] const ssize_t written = ::write(fd, text.data(), text.size());
}

std::string_view describe_signal(int signal) {
  switch (signal) {
    case SIGSEGV:
      return "SIGSEGV, an access to memory that is not there";
    case SIGBUS:
      return "SIGBUS, an access to a mapped file or memory that is no longer there";
    case SIGILL:
      return "SIGILL, an instruction that this CPU does not have";
    case SIGFPE:
      return "SIGFPE, an arithmetic error";
    default:
      return "SIGABRT, a failed check or an exception that nothing caught";
  }
}

void report(int fd, int signal, void* const* frames, int count) {
  put(fd, crashing_process.data());
  put(fd, " crashed by ");
  put(fd, describe_signal(signal));
  put(fd, "; report it with these lines (addr2line -Cfe PROGRAM ADDRESS names the places):\n");
  backtrace_symbols_fd(frames, count, fd);
}

void report(int signal) {
  std::array<void*, kMostFrames> frames{};
  const int count = backtrace(frames.data(), kMostFrames);
  report(STDERR_FILENO, signal, frames.data(), count);
  if (crash_log_path[0] == '\0') return;
  const int log = ::open(crash_log_path.data(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
  if (log >= 0) report(log, signal, frames.data(), count);
}

/// Handles a crash. A second thread that crashes waits, because its death would end the process
/// before the first thread has written its report. A crash within the report only ends the process.
void report_and_die(int signal) {
  const pid_t self = gettid();
  pid_t none = 0;
  if (reporting_thread.compare_exchange_strong(none, self)) {
    report(signal);
  } else if (none != self) {
    timespec rest{.tv_sec = kLongestReport_s, .tv_nsec = 0};
    while (::nanosleep(&rest, &rest) != 0 && errno == EINTR) {
    }
  }
  ::signal(signal, SIG_DFL);
  ::raise(signal);
}

}  // namespace

void install_crash_handlers(const std::string& who) {
  std::snprintf(crashing_process.data(), crashing_process.size(), "%s", who.c_str());
  std::array<void*, 1> first{};
  backtrace(first.data(), 1);  // loads its library now, because a handler may not
  stack_t stack{};
  stack.ss_sp = crash_stack.data();
  stack.ss_size = crash_stack.size();
  sigaltstack(&stack, nullptr);
  for (const int signal : kCrashes) {
    struct sigaction action {};
    action.sa_handler = report_and_die;
    action.sa_flags = static_cast<int>(SA_ONSTACK | SA_NODEFER);
    sigemptyset(&action.sa_mask);
    sigaction(signal, &action, nullptr);
  }
}

void set_crash_log(const std::string& path) {
  std::snprintf(crash_log_path.data(), crash_log_path.size(), "%s", path.c_str());
}

}  // namespace traffic
