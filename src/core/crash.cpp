#include "traffic/core/crash.h"

#include <execinfo.h>
#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <string_view>

namespace traffic {
namespace {

constexpr int kMostFrames = 64;
constexpr std::size_t kStackBytes = std::size_t{64} << 10U;
constexpr std::array<int, 5> kCrashes{SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT};

// What a handler may use: nothing is allocated there.
std::array<char, 64> crashing_process{};
std::array<char, 4096> crash_log_path{};
std::array<char, kStackBytes> crash_stack{};  // the process's own may be what has run out
std::atomic_flag is_crashing = ATOMIC_FLAG_INIT;

void put(int fd, std::string_view text) {
  [[maybe_unused]] const ssize_t written = ::write(fd, text.data(), text.size());
}

std::string_view describe_signal(int signal) {
  switch (signal) {
    case SIGSEGV:
      return "SIGSEGV, an access to memory that is not there";
    case SIGBUS:
      return "SIGBUS, a mapped file or memory that has gone";
    case SIGILL:
      return "SIGILL, an instruction that this CPU does not have";
    case SIGFPE:
      return "SIGFPE, an arithmetic error";
    default:
      return "SIGABRT, a check that failed";
  }
}

void tell(int fd, int signal, void* const* frames, int count) {
  put(fd, crashing_process.data());
  put(fd, " crashed by ");
  put(fd, describe_signal(signal));
  put(fd, "; report it with these lines (addr2line -Cfe PROGRAM ADDRESS names the places):\n");
  backtrace_symbols_fd(frames, count, fd);
}

void tell_and_die(int signal) {
  if (!is_crashing.test_and_set()) {
    std::array<void*, kMostFrames> frames{};
    const int count = backtrace(frames.data(), kMostFrames);
    tell(STDERR_FILENO, signal, frames.data(), count);
    const int log =
        crash_log_path[0] == '\0'
            ? -1
            : ::open(crash_log_path.data(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
    if (log >= 0) tell(log, signal, frames.data(), count);
  }
  ::raise(signal);  // the handler is gone by SA_RESETHAND: the process dies of the signal
}

}  // namespace

void install_crash_handlers(const std::string& who) {
  std::snprintf(crashing_process.data(), crashing_process.size(), "%s", who.c_str());
  std::array<void*, 1> first{};
  backtrace(first.data(), 1);  // loads what it needs now, not in a handler
  stack_t stack{};
  stack.ss_sp = crash_stack.data();
  stack.ss_size = crash_stack.size();
  sigaltstack(&stack, nullptr);
  for (const int signal : kCrashes) {
    struct sigaction action {};
    action.sa_handler = tell_and_die;
    action.sa_flags = static_cast<int>(SA_ONSTACK | SA_RESETHAND | SA_NODEFER);
    sigemptyset(&action.sa_mask);
    sigaction(signal, &action, nullptr);
  }
}

void set_crash_log(const std::string& path) {
  std::snprintf(crash_log_path.data(), crash_log_path.size(), "%s", path.c_str());
}

}  // namespace traffic
