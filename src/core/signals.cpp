// Records signals that ask a program to stop (signals.h).
#include "traffic/core/signals.h"

#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>

#include "traffic/core/clock.h"
#include "traffic/core/error.h"

namespace traffic {
namespace {

/// Two SIGINT within this time count as one request: `timeout -s INT` and job managers signal the
/// program and at once its process group.
constexpr double kSameInterrupt_s = 0.5;

std::atomic<int> g_request{0};
std::atomic<double> g_interrupt_s{0.0};  ///< steady_seconds() of the first SIGINT
static_assert(std::atomic<int>::is_always_lock_free && std::atomic<double>::is_always_lock_free,
              "a signal handler may not take a lock");

void note(StopRequest request) noexcept {
  const int value = static_cast<int>(request);
  int seen = g_request.load(std::memory_order_relaxed);
  while (seen < value && !g_request.compare_exchange_weak(seen, value, std::memory_order_relaxed)) {
  }
}

void interrupt() noexcept {
  const double now_s = steady_seconds();
  if (stop_request() != StopRequest::kInterrupt) {
    g_interrupt_s.store(now_s, std::memory_order_relaxed);
    note(StopRequest::kInterrupt);
  } else if (now_s - g_interrupt_s.load(std::memory_order_relaxed) > kSameInterrupt_s) {
    ::_exit(130);
  }
}

void handle(int signal) noexcept {
  switch (signal) {
    case SIGUSR1:
      note(StopRequest::kSave);
      break;
    case SIGHUP:
    case SIGTERM:
      note(StopRequest::kTerminate);
      break;
    default:
      interrupt();
  }
}

void install(int signal, void (*handler)(int)) {
  struct sigaction action {};
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;  // some libraries do not expect that a signal ends a system call
  sigemptyset(&action.sa_mask);
  TRAFFIC_CHECK(sigaction(signal, &action, nullptr) == 0, "sigaction({}) failed: errno {}", signal,
                errno);
}

}  // namespace

void install_stop_handlers() {
  for (const int signal : {SIGUSR1, SIGTERM, SIGINT}) install(signal, handle);
  struct sigaction present {};
  sigaction(SIGHUP, nullptr, &present);
  if (present.sa_handler != SIG_IGN) install(SIGHUP, handle);  // under nohup it stays ignored
  install(SIGPIPE, SIG_IGN);
}

StopRequest stop_request() noexcept {
  return static_cast<StopRequest>(g_request.load(std::memory_order_relaxed));
}

const char* to_string(StopRequest request) noexcept {
  switch (request) {
    case StopRequest::kSave:
      return "SIGUSR1";
    case StopRequest::kTerminate:
      return "SIGTERM";
    case StopRequest::kInterrupt:
      return "SIGINT";
    case StopRequest::kNone:
      break;
  }
  return "none";
}

void clear_stop_request() noexcept { g_request.store(0, std::memory_order_relaxed); }

}  // namespace traffic
