#include "pool_start.h"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <optional>
#include <utility>
#include <vector>

#include "pool_setup.h"
#include "traffic/core/error.h"
#include "traffic/core/fault.h"
#include "traffic/core/process.h"

namespace traffic::rollout {
namespace {

constexpr double kStartS = 90.0;  ///< for MPI to start the workers (start_watch.h)
/// Where workers had to start over MPI_Comm_spawn may fail (dpm.c: "Server not available"); the
/// next one succeeds.
constexpr int kSpawns = 2;

/// How a rank fared, for all; a leader also says where the memory of its node is.
struct Outcome {
  int code = 0;
  pid_t pid = 0;
  int fd = -1;
  int num_workers = 0;
  std::array<char, 256> host{};
  std::array<char, 2048> message{};
};

Outcome failure(ExitCode code, const std::string& text) {
  Outcome outcome{.code = static_cast<int>(code)};
  text.copy(outcome.message.data(), outcome.message.size() - 1);
  return outcome;
}

/// Everything that may fail on a node, before anybody waits for its workers. Collective.
/// @return of every rank
/// @throws the first failure, on all ranks
std::vector<Outcome> make_memory(const comm::MpiSession& session, const WorkerPoolSpec& spec,
                                 std::optional<PoolMemory>& memory) {
  Outcome mine;
  if (session.topology().is_leader()) {
    try {
      require_spawning();
      require_programs(spec.programs);
      const PoolPlan plan = plan_pool(spec, session.topology());
      require_limits(plan.geometry);
      memory.emplace(PoolMemory::create(plan));
      mine.pid = getpid();
      mine.fd = memory->file().get();
      mine.num_workers = static_cast<int>(memory->geometry().num_workers());
      hostname().copy(mine.host.data(), mine.host.size() - 1);
    } catch (const Error& error) {
      mine = failure(error.code(), session.num_nodes() == 1
                                       ? error.what()
                                       : fmt::format("{}: {}", hostname(), error.what()));
    }
  }
  std::vector<Outcome> of_ranks(static_cast<std::size_t>(session.size()));
  all_gather(session.fortran_comm(), &mine, sizeof(mine), of_ranks.data());
  for (const Outcome& outcome : of_ranks) {
    if (outcome.code != 0) {
      throw Error(outcome.message.data(), static_cast<ExitCode>(outcome.code));
    }
  }
  return of_ranks;
}

/// On rank 0: those of all nodes at once.
Outcome start_workers(const comm::MpiSession& session, const WorkerPoolSpec& spec,
                      const std::vector<Outcome>& of_ranks, int attempt, SpawnedWorkers& workers) {
  WorkerSpawn spawn{
      .program = std::filesystem::absolute(spec.programs.rollout_worker).string(),
      .nodes = {},
      .timeout_s = kStartS,
      .on_timeout = [&session] {
        session.exit_now(
            ExitCode::kWorkers,
            fmt::format("MPI has not started the rollout workers within {} s: is there "
                        "a free slot, and does mpirun see {}?",
                        kStartS, session.num_nodes() > 1 ? "all machines" : "this machine"));
      }};
  for (const int leader : session.topology().leaders) {
    const Outcome& node = of_ranks[static_cast<std::size_t>(leader)];
    spawn.nodes.push_back({.host = node.host.data(),
                           .count = node.num_workers,
                           .memory_pid = node.pid,
                           .memory_fd = node.fd});
  }
  try {
    if (fault::hit("rollout.spawn", 0, attempt) == fault::Action::kFail) {
      throw WorkerError("MPI_Comm_spawn_multiple failed: as asked for");
    }
    workers = SpawnedWorkers(spawn);
    if (fault::hit("rollout.spawned", 0, attempt) == fault::Action::kFail) {
      throw WorkerError("MPI_Comm_spawn_multiple has succeeded, and failed: as asked for");
    }
  } catch (const Error& error) {
    return failure(error.code(),
                   fmt::format("the rollout workers could not be started: {}", error.what()));
  }
  return {};
}

}  // namespace

StartedPool start_pool(const comm::MpiSession& session, const WorkerPoolSpec& spec) {
  std::vector<PoolMemory> given_up;
  for (int attempt = 1;; ++attempt) {
    std::optional<PoolMemory> memory;
    const std::vector<Outcome> of_ranks = make_memory(session, spec, memory);
    SpawnedWorkers workers;
    Outcome started;
    if (session.rank() == 0) started = start_workers(session, spec, of_ranks, attempt, workers);
    // Unlike a broadcast it sleeps while it waits, and leaves the cores to what is being started.
    session.rendezvous("the start of the rollout workers", 2 * kStartS);
    broadcast_from_rank0(session.fortran_comm(), &started, sizeof(started));
    if (started.code == 0) {
      if (!memory) {
        const auto leader = static_cast<std::size_t>(session.topology().local_ranks.front());
        memory.emplace(open_pool_memory(of_ranks[leader].pid, of_ranks[leader].fd));
      }
      return {.memory = std::move(*memory),
              .workers = std::move(workers),
              .given_up = std::move(given_up)};
    }
    if (attempt == kSpawns) {
      throw Error(started.message.data(), static_cast<ExitCode>(started.code));
    }
    if (session.rank() == 0) fmt::print(stderr, "{}; trying once more\n", started.message.data());
    if (!memory) continue;
    memory->pool().given_up.store(1, std::memory_order_relaxed);
    memory->pool().closing.store(1, std::memory_order_release);
    given_up.push_back(std::move(*memory));
  }
}

}  // namespace traffic::rollout
