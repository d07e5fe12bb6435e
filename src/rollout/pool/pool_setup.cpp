// Checks that a pool of rollout workers can start, and chooses its sizes (pool_setup.h).
#include "pool_setup.h"

#include <sys/resource.h>
#include <unistd.h>

#include <cstdlib>

#include "traffic/config/num_simulations.h"
#include "traffic/core/error.h"

namespace traffic::rollout {
namespace {

void require_program(const std::filesystem::path& program) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(program, ignored)) {
    throw WorkerError(
        "there is no program {}; build it (./launch/build.sh) or install it in the folder of the "
        "running program",
        program.string());
  }
  if (access(program.c_str(), X_OK) != 0) {
    throw WorkerError("{} may not be executed: set its permission with chmod +x", program.string());
  }
}

/// The soft limit of a resource. If there is no limit, getrlimit() reports the largest number.
rlim_t limit_of(__rlimit_resource resource) {
  rlimit limit{};
  getrlimit(resource, &limit);
  return limit.rlim_cur;
}

/// Number of environments that belong to a rank. Environment e belongs to rank e mod size, on
/// whichever node that rank runs.
std::int64_t envs_of_rank(std::int64_t envs, int rank, int size) {
  return (envs - rank + size - 1) / size;
}

}  // namespace

void require_programs(const Programs& programs) {
  require_program(programs.rollout_worker);
  require_program(programs.environment);
}

void require_spawning() {
  const bool by_srun = std::getenv("SLURM_PMIX_MAPPING_SERV") != nullptr;
  if (!by_srun || std::getenv("OMPI_COMM_WORLD_SIZE") != nullptr) return;
  throw ConfigError(
      "srun has started the ranks, and SLURM starts no further processes for them "
      "(MPI_Comm_spawn), "
      "which simulations need: start the ranks with mpirun inside the job, as "
      "launch/slurm/train.sbatch does; srun --mpi=pmix is for trainings without simulations");
}

void require_limits(const Geometry& geometry) {
  // mpirun holds about ten descriptors for each process that it starts.
  const rlim_t files = 64 + 10 * rlim_t{geometry.num_workers() + geometry.num_ranks};
  if (limit_of(RLIMIT_NOFILE) < files) {
    throw ResourceError(
        "{} rollout workers need {} open files, the limit is {}: raise it "
        "(ulimit -n) or lower rollout.workers",
        geometry.num_workers(), files, limit_of(RLIMIT_NOFILE));
  }
  // A simulation runs in two processes, and the threads of a rollout worker count as processes,
  // too. The limit does not apply to root.
  const rlim_t processes = 2 * geometry.num_envs + 4 * rlim_t{geometry.num_workers()};
  if (geteuid() != 0 && limit_of(RLIMIT_NPROC) < processes) {
    throw ResourceError(
        "{} simulations need {} processes, the limit of this user is {}: raise it "
        "(ulimit -u) or lower rollout.workers",
        geometry.num_envs, processes, limit_of(RLIMIT_NPROC));
  }
}

PoolPlan plan_pool(const WorkerPoolSpec& spec, const comm::Topology& topology) {
  const config::Rollout& rollout = spec.rollout;
  const std::int64_t envs = config::num_simulations(rollout);
  if (envs < topology.size) {
    throw ConfigError(
        "{} simulations (rollout.workers x rollout.envs_per_worker, at most "
        "rollout.max_concurrent_envs) for {} ranks: expected at least one for each rank",
        envs, topology.size);
  }
  PoolPlan plan;
  plan.ranks.assign(topology.local_ranks.begin(), topology.local_ranks.end());
  std::int64_t envs_of_node = 0;
  for (const int rank : topology.local_ranks)
    envs_of_node += envs_of_rank(envs, rank, topology.size);
  plan.geometry = {.num_ranks = static_cast<std::uint32_t>(plan.ranks.size()),
                   .num_envs = static_cast<std::uint32_t>(envs_of_node),
                   .world_size = static_cast<std::uint32_t>(topology.size),
                   .envs_per_worker = static_cast<std::uint32_t>(rollout.envs_per_worker),
                   .command_bytes = spec.max_order_bytes,
                   .reply_bytes = spec.max_answer_bytes};
  plan.env_timeout_s = rollout.env_timeout_s;
  plan.max_restarts = static_cast<std::uint32_t>(rollout.max_restarts);
  plan.env_program = std::filesystem::absolute(spec.programs.environment).string();
  plan.settings = spec.settings;
  return plan;
}

}  // namespace traffic::rollout
