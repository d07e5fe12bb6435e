// Starts a pool of rollout workers on all nodes through MPI.

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>
#include <vector>

#include "job_workers.h"
#include "mpi_spawn.h"
#include "pool_setup.h"
#include "started_pool.h"
#include "traffic/comm/mpi_session.h"
#include "traffic/core/error.h"
#include "traffic/core/fault.h"
#include "traffic/core/process.h"
#include "traffic/rollout/pool/worker_pool.h"
#include "worker_watch.h"

namespace traffic::rollout {
namespace {

// Time limits on an idle machine, in seconds. On one machine MPI starts a worker in 20 ms. The
// limit is much longer, because on several machines MPI first starts daemons.
constexpr double kSpawn_s = 90.0;  ///< time for MPI to start the processes
constexpr double kMeet_s = 60.0;  ///< added to kSpawn_s and kStart_s for ranks that wait for others
constexpr double kClose_s = 600.0;  ///< maximum time that ranks wait for each other in close()
/// Number of attempts to start the workers. A start that failed because the machine was busy may
/// succeed the second time.
constexpr int kSpawns = 2;

/// The result of a step of the start on one rank, which all ranks receive. The result of a leader
/// (first rank of a node) also tells where the memory of its node is.
struct Outcome {
  int code = 0;             ///< an ExitCode; 0 means success
  pid_t pid = 0;            ///< process id of the rank
  int memory_fd = -1;       ///< descriptor of the pool's memory in that process; -1 on other ranks
  int board_fd = -1;        ///< descriptor of the notice board; -1 on other ranks
  int missing_workers = 0;  ///< number of workers to start on the node
  std::array<char, 256> host{};
  std::array<char, 2048> message{};  ///< text of the error
};

Outcome failure(ExitCode code, const std::string& text) {
  Outcome outcome{.code = static_cast<int>(code)};
  text.copy(outcome.message.data(), outcome.message.size() - 1);
  return outcome;
}

Outcome not_started(const Error& error) {
  return failure(error.code(),
                 fmt::format("the rollout workers could not be started: {}", error.what()));
}

/// Checks everything that can be checked before workers start, and creates the pool's memory on
/// every node. Then posts the pool on the notice boards, so that idle workers of the job join it.
/// Collective.
/// @return the results of all ranks
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
      JobWorkers& workers = JobWorkers::of_this_process();
      mine.pid = getpid();
      mine.memory_fd = memory->file().get();
      mine.board_fd = workers.board().file().get();
      mine.missing_workers = workers.missing(static_cast<int>(memory->geometry().num_workers()));
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
  if (memory) JobWorkers::of_this_process().board().post(*memory);
  return of_ranks;
}

/// Starts the additional workers of all nodes at once. Only rank 0 calls it.
Outcome start_workers(const comm::MpiSession& session, const WorkerPoolSpec& spec,
                      const std::vector<Outcome>& of_ranks, int attempt) {
  const double timeout_s = kSpawn_s * slowdown();
  WorkerSpawn spawn{
      .program = std::filesystem::absolute(spec.programs.rollout_worker).string(),
      .nodes = {},
      .timeout_s = timeout_s,
      .on_timeout = [&session, timeout_s] {
        session.exit_now(
            ExitCode::kWorkers,
            fmt::format("MPI has not started the rollout workers within {:.0f} s: is there "
                        "a free slot, and does mpirun see {}?",
                        timeout_s, session.num_nodes() > 1 ? "all machines" : "this machine"));
      }};
  for (const int leader : session.topology().leaders) {
    const Outcome& node = of_ranks[static_cast<std::size_t>(leader)];
    if (node.missing_workers == 0) continue;
    spawn.nodes.push_back({.host = node.host.data(),
                           .count = node.missing_workers,
                           .leader_pid = node.pid,
                           .board_fd = node.board_fd});
  }
  if (spawn.nodes.empty()) return {};
  try {
    if (fault::hit("rollout.spawn", 0, attempt) == fault::Action::kFail) {
      throw WorkerError("MPI_Comm_spawn_multiple failed: fault rollout.spawn");
    }
    spawn_workers(spawn);
    if (fault::hit("rollout.spawned", 0, attempt) == fault::Action::kFail) {
      throw WorkerError("the start failed after MPI_Comm_spawn_multiple: fault rollout.spawned");
    }
  } catch (const Error& error) {
    return not_started(error);
  }
  return {};
}

/// Waits for the workers of this node. Only leaders call it.
Outcome await_workers(const PoolMemory& memory) {
  try {
    wait_for_workers(memory, kStart_s * slowdown());
  } catch (const Error& error) {
    return not_started(error);
  }
  return {};
}

/// Starts the workers of all nodes and waits for their first signs of life. Collective.
/// @param memory memory of this node on its leader, empty on other ranks
/// @return the first failure of any rank, the same on all ranks
Outcome start_on_all_nodes(const comm::MpiSession& session, const WorkerPoolSpec& spec,
                           const std::vector<Outcome>& of_ranks, int attempt,
                           const std::optional<PoolMemory>& memory) {
  Outcome spawned;
  if (session.rank() == 0) spawned = start_workers(session, spec, of_ranks, attempt);
  // Unlike a broadcast, rendezvous() sleeps while it waits, and leaves the cores to the workers.
  session.rendezvous("the start of the rollout workers", kSpawn_s * slowdown() + kMeet_s);
  broadcast_from_rank0(session.fortran_comm(), &spawned, sizeof(spawned));
  if (spawned.code != 0) return spawned;
  Outcome mine;
  if (memory) mine = await_workers(*memory);
  session.rendezvous("the first signs of life of the rollout workers",
                     kStart_s * slowdown() + kMeet_s);
  std::vector<Outcome> all(static_cast<std::size_t>(session.size()));
  all_gather(session.fortran_comm(), &mine, sizeof(mine), all.data());
  const auto failed = std::ranges::find_if(all, [](const Outcome& one) { return one.code != 0; });
  return failed == all.end() ? Outcome{} : *failed;
}

/// Closes a pool whose start has failed. A worker that starts late finds either no pool on the
/// notice board or the pool of the next attempt.
void give_up(const PoolMemory& memory) {
  memory.pool().closing.store(1, std::memory_order_release);
  JobWorkers& workers = JobWorkers::of_this_process();
  workers.board().withdraw(memory);
  workers.forget();
}

/// Creates the memory of a pool on every node and starts the additional workers that the pool
/// needs. Collective.
/// @return the memory of this rank's node
/// @throws as WorkerPool's constructor, the same on all ranks
PoolMemory start_pool(const comm::MpiSession& session, const WorkerPoolSpec& spec) {
  for (int attempt = 1;; ++attempt) {
    std::optional<PoolMemory> memory;
    const std::vector<Outcome> of_ranks = make_memory(session, spec, memory);
    const Outcome started = start_on_all_nodes(session, spec, of_ranks, attempt, memory);
    if (started.code == 0) {
      if (memory) {
        const auto workers = static_cast<int>(memory->geometry().num_workers());
        JobWorkers::of_this_process().take(workers);
        return std::move(*memory);
      }
      const auto leader = static_cast<std::size_t>(session.topology().local_ranks.front());
      return PoolMemory(open_pool_memory(of_ranks[leader].pid, of_ranks[leader].memory_fd));
    }
    if (memory) give_up(*memory);
    if (attempt == kSpawns) {
      throw Error(started.message.data(), static_cast<ExitCode>(started.code));
    }
    if (session.rank() == 0) fmt::print(stderr, "{}; trying once more\n", started.message.data());
  }
}

}  // namespace

WorkerPool::WorkerPool(const comm::MpiSession& session, const WorkerPoolSpec& spec)
    : WorkerPool(
          StartedPool{
              .memory = start_pool(session, spec),
              .topology = session.topology(),
              .workers = &JobWorkers::of_this_process(),
              .meet = [&session] { session.rendezvous("the end of the simulations", kClose_s); }},
          spec) {}

}  // namespace traffic::rollout
