#include <fmt/format.h>
#include <sched.h>
#include <unistd.h>

#include <charconv>
#include <csignal>
#include <cstdio>
#include <exception>
#include <optional>
#include <string_view>

#include "memory_file.h"
#include "mpi_call.h"
#include "supervisor.h"
#include "traffic/core/error.h"
#include "traffic/rollout/processes.h"

namespace traffic::rollout {
namespace {

struct Memory {
  pid_t pid = 0;
  int fd = -1;
};

/// --memory PID:FD
std::optional<Memory> parse(int argc, char** argv) {
  if (argc != 3 || std::string_view(argv[1]) != "--memory") return std::nullopt;
  const std::string_view text(argv[2]);
  const char* const stop = text.data() + text.size();
  Memory memory;
  const auto [colon, pid_error] = std::from_chars(text.data(), stop, memory.pid);
  if (pid_error != std::errc{} || colon == stop || *colon != ':') return std::nullopt;
  const auto [end, fd_error] = std::from_chars(colon + 1, stop, memory.fd);
  if (fd_error != std::errc{} || end != stop) return std::nullopt;
  return memory;
}

/// The ranks decide what a signal means; a worker that ends by one takes the whole job along. The
/// simulations inherit it.
void leave_signals_to_ranks() {
  for (const int number : {SIGUSR1, SIGUSR2, SIGINT, SIGTERM, SIGHUP, SIGPIPE}) {
    std::signal(number, SIG_IGN);
  }
}

/// mpirun binds processes to single cores; simulations may run on any that the job has.
void use_all_cpus() {
  cpu_set_t all;
  CPU_ZERO(&all);
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) CPU_SET(cpu, &all);
  sched_setaffinity(0, sizeof(all), &all);  // the kernel leaves out what the job may not use
}

}  // namespace

int run_rollout_worker(int argc, char** argv) {
  const auto memory = parse(argc, argv);
  if (!memory) {
    fmt::print(stderr, "rollout_worker is started by the trainer, through MPI\n");
    return static_cast<int>(ExitCode::kConfig);
  }
  leave_signals_to_ranks();
  use_all_cpus();
  MPI_Init(&argc, &argv);
  MPI_Comm ranks = MPI_COMM_NULL;
  int worker = 0;
  MPI_Comm_get_parent(&ranks);
  MPI_Comm_rank(MPI_COMM_WORLD, &worker);
  try {
    Supervisor supervisor(open_memory_file_of(memory->pid, memory->fd),
                          static_cast<std::uint32_t>(worker));
    // Nobody is left to take leave of, and MPI_Finalize would wait for them.
    if (supervisor.run() == Supervisor::End::kOrphaned)
      ::_exit(static_cast<int>(ExitCode::kPeerLost));
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
