#include "start_watch.h"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <csignal>
#include <cstring>
#include <string_view>

#include "traffic/core/error.h"

namespace traffic::rollout {
namespace {

/// A start takes half a second, on a machine with ten times as many processes as cores about five.
/// The rank that has asked for the worker gives up after 30 s: the last attempt needs time as well.
constexpr std::array<unsigned, 3> kPatience_s = {6, 7, 8};

struct NextAttempt {
  std::array<char, 64> memory{};
  std::array<char, 16> number{};
};
NextAttempt next;  // for the handler, which may not allocate

void start_over(int /*signal*/) {
  constexpr std::string_view kText =
      "rollout_worker: MPI_Init has not returned for long, starting over\n";
  [[maybe_unused]] const auto written = write(STDERR_FILENO, kText.data(), kText.size());
  sigset_t none;
  sigemptyset(&none);
  pthread_sigmask(SIG_SETMASK, &none, nullptr);  // a blocked signal stays blocked otherwise
  close_range(STDERR_FILENO + 1, ~0U, 0);
  char name[] = "rollout_worker";
  char memory[] = "--memory";
  char attempt[] = "--attempt";
  char* const argv[] = {name, memory, next.memory.data(), attempt, next.number.data(), nullptr};
  execve("/proc/self/exe", argv, environ);
  _exit(static_cast<int>(ExitCode::kWorkers));
}

}  // namespace

StartWatch::StartWatch(const char* memory, int attempt) {
  const auto index = static_cast<std::size_t>(attempt - 1);
  if (index >= kPatience_s.size()) {
    pid_t rank = 0;
    std::from_chars(memory, memory + std::strlen(memory), rank);  // "PID:..."
    rank_watch_.emplace(rank);
    return;
  }
  fmt::format_to_n(next.memory.begin(), next.memory.size() - 1, "{}", memory);
  fmt::format_to_n(next.number.begin(), next.number.size() - 1, "{}", attempt + 1);
  std::signal(SIGALRM, start_over);
  alarm(kPatience_s[index]);
}

StartWatch::~StartWatch() {
  if (rank_watch_) return;
  alarm(0);
  std::signal(SIGALRM, SIG_DFL);
}

}  // namespace traffic::rollout
