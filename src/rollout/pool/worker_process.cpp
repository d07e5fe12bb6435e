#include <fmt/format.h>
#include <unistd.h>

#include <charconv>
#include <csignal>
#include <cstdio>
#include <exception>
#include <optional>
#include <span>
#include <string_view>

#include "mpi_call.h"
#include "pool_memory.h"
#include "rank_watch.h"
#include "start_watch.h"
#include "supervisor.h"
#include "traffic/core/error.h"
#include "traffic/core/fault.h"
#include "traffic/core/process.h"
#include "traffic/os/affinity.h"
#include "traffic/rollout/pool/processes.h"

namespace traffic::rollout {
namespace {

struct Arguments {
  pid_t memory_pid = 0;
  int memory_fd = -1;
  int first_worker = 0;  ///< of this node, among the workers of all
  int attempt = 1;       ///< to start
};

/// @return where the number ends, nullptr if there is none
template <typename Number>
const char* read_number(const char* text, const char* stop, Number& number) {
  const auto [end, error] = std::from_chars(text, stop, number);
  return error == std::errc{} ? end : nullptr;
}

/// --memory PID:FD:FIRST_WORKER [--attempt N]
std::optional<Arguments> parse(std::span<char* const> argv) {
  if (argv.size() != 3 && argv.size() != 5) return std::nullopt;
  if (std::string_view(argv[1]) != "--memory") return std::nullopt;
  Arguments arguments;
  const std::string_view memory(argv[2]);
  const char* const stop = memory.data() + memory.size();
  const char* const colon = read_number(memory.data(), stop, arguments.memory_pid);
  if (colon == nullptr || colon == stop || *colon != ':') return std::nullopt;
  const char* const second = read_number(colon + 1, stop, arguments.memory_fd);
  if (second == nullptr || second == stop || *second != ':') return std::nullopt;
  if (read_number(second + 1, stop, arguments.first_worker) != stop) return std::nullopt;
  if (argv.size() == 3) return arguments;
  const std::string_view attempt(argv[4]);
  const char* const end = attempt.data() + attempt.size();
  if (std::string_view(argv[3]) != "--attempt" ||
      read_number(attempt.data(), end, arguments.attempt) != end || arguments.attempt < 1) {
    return std::nullopt;
  }
  return arguments;
}

/// @throws WorkerError if MPI has started this worker beside the ranks of another node
os::Descriptor open_memory_of_node(const Arguments& arguments) {
  os::Descriptor file = open_pool_memory(arguments.memory_pid, arguments.memory_fd);
  const os::Mapping first = map_pool_memory(file, 0, sizeof(PoolHead), os::Access::kReadOnly);
  check_head(first.bytes());
  const std::string wanted = head_of(first.bytes()).host.get();
  if (const std::string host = hostname(); host != wanted) {
    throw WorkerError("MPI has started it on {}, its ranks are on {}", host, wanted);
  }
  return file;
}

/// The ranks decide what a signal means; a worker that ends by one takes the whole job along. The
/// simulations inherit it.
void leave_signals_to_ranks() {
  for (const int number : {SIGUSR1, SIGUSR2, SIGINT, SIGTERM, SIGHUP, SIGPIPE}) {
    std::signal(number, SIG_IGN);
  }
}

}  // namespace

int run_rollout_worker(int argc, char** argv) {
  const auto arguments = parse({argv, static_cast<std::size_t>(argc)});
  if (!arguments) {
    fmt::print(stderr, "rollout_worker is started by the trainer, through MPI\n");
    return static_cast<int>(ExitCode::kConfig);
  }
  leave_signals_to_ranks();
  os::lift_binding_of_mpirun();  // simulations are more than the cores that it binds to
  {
    const StartWatch watch(argv[2], arguments->attempt);
    fault::hit("rollout_worker.start", 0, arguments->attempt);
    MPI_Init(&argc, &argv);
  }
  MPI_Comm ranks = MPI_COMM_NULL;
  int worker = 0;
  MPI_Comm_get_parent(&ranks);
  MPI_Comm_rank(MPI_COMM_WORLD, &worker);
  try {
    Supervisor supervisor(open_memory_of_node(*arguments),
                          static_cast<std::uint32_t>(worker - arguments->first_worker));
    const Supervisor::End end = supervisor.run();
    // Nobody is left to take leave of, and MPI_Finalize would wait for them.
    if (end == Supervisor::End::kOrphaned) ::_exit(static_cast<int>(ExitCode::kPeerLost));
    if (end == Supervisor::End::kUnwanted) {
      const RankWatch watch(arguments->memory_pid);  // who may know nothing of this worker
      MPI_Finalize();
      return static_cast<int>(ExitCode::kDone);
    }
  } catch (const std::exception& error) {
    // An abnormal end is what tells mpirun, and through it the ranks.
    fmt::print(stderr, "rollout_worker {}: {}\n", worker, error.what());
    std::fflush(stderr);
    ::_exit(static_cast<int>(ExitCode::kWorkers));
  }
  if (ranks != MPI_COMM_NULL) MPI_Comm_disconnect(&ranks);
  MPI_Finalize();
  return static_cast<int>(ExitCode::kDone);
}

}  // namespace traffic::rollout
