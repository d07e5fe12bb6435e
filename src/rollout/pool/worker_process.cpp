// The main function of rollout_worker: serves one pool after the other until the job ends.
#include <fmt/format.h>
#include <sys/types.h>

#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <exception>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "notice_board.h"
#include "pool_memory.h"
#include "supervisor.h"
#include "traffic/core/error.h"
#include "traffic/core/fault.h"
#include "traffic/core/process.h"
#include "traffic/os/affinity.h"
#include "traffic/rollout/pool/processes.h"

namespace traffic::rollout {
namespace {

/// Where the notice board is, on which the worker finds the pools to serve: the process id of the
/// node's leader (its first rank), and the leader's descriptor of the board.
struct Source {
  pid_t pid = 0;
  int fd = -1;
};

/// Parses the arguments "--notices PID:FD".
std::optional<Source> parse(std::span<char* const> argv) {
  if (argv.size() != 3 || std::string_view(argv[1]) != "--notices") return std::nullopt;
  Source source;
  const std::string_view text(argv[2]);
  const char* const stop = text.data() + text.size();
  const auto [colon, bad_pid] = std::from_chars(text.data(), stop, source.pid);
  if (bad_pid != std::errc{} || colon == stop || *colon != ':') return std::nullopt;
  const auto [end, bad_fd] = std::from_chars(colon + 1, stop, source.fd);
  if (bad_fd != std::errc{} || end != stop) return std::nullopt;
  return source;
}

/// Joins a pool.
/// @return the number of this worker in the pool, in the order of joining; empty if the pool
/// already has as many workers as it needs
std::optional<std::uint32_t> claim_number(const os::Descriptor& pool) {
  const os::Mapping first = map_pool_memory(pool, 0, sizeof(PoolHead), os::Access::kReadWrite);
  check_head(first.bytes());
  PoolHead& head = head_of(first.bytes());
  const std::uint32_t number = head.num_claimed.fetch_add(1, std::memory_order_relaxed);
  return number < head.geometry.num_workers() ? std::optional(number) : std::nullopt;
}

/// Makes this process ignore signals; the ranks handle them. If a signal ended a worker, mpirun
/// would end the whole job. The simulations inherit this setting.
void leave_signals_to_ranks() {
  for (const int number : {SIGUSR1, SIGUSR2, SIGINT, SIGTERM, SIGHUP, SIGPIPE}) {
    std::signal(number, SIG_IGN);
  }
}

}  // namespace

int run_rollout_worker(int argc, char** argv) {
  const auto source = parse({argv, static_cast<std::size_t>(argc)});
  if (!source) {
    fmt::print(
        stderr,
        "rollout_worker cannot be started by hand: a training or libtraffic_env.so starts it\n");
    return static_cast<int>(ExitCode::kConfig);
  }
  leave_signals_to_ranks();
  os::lift_binding_of_mpirun();  // otherwise all simulations would share one core
  try {
    fault::hit("rollout_worker.start", 0, 1);
    // If the leader is gone, the job has ended, perhaps successfully; this worker must not report a
    // failure.
    if (kill(source->pid, 0) != 0 && errno == ESRCH) return static_cast<int>(ExitCode::kDone);
    NoticeReader notices(source->pid, source->fd);
    while (auto pool = notices.next_pool()) {
      const auto worker = claim_number(*pool);
      if (!worker) continue;
      Supervisor supervisor(std::move(*pool), *worker);
      if (supervisor.run() == Supervisor::End::kOrphaned) {
        return static_cast<int>(ExitCode::kPeerLost);
      }
    }
    return static_cast<int>(ExitCode::kDone);
  } catch (const std::exception& error) {
    // If the exit code is not 0, mpirun ends the ranks.
    fmt::print(stderr, "rollout_worker on {}: {}\n", hostname(), error.what());
    return static_cast<int>(ExitCode::kWorkers);
  }
}

}  // namespace traffic::rollout
