// Starts a pool of rollout workers for one process that does not use MPI.
#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <memory>
#include <system_error>
#include <utility>

#include "pool_setup.h"
#include "started_pool.h"
#include "traffic/core/error.h"
#include "worker_watch.h"

namespace traffic::rollout {

WorkerPool::StartedPool WorkerPool::start_alone(const WorkerPoolSpec& spec) {
  require_programs(spec.programs);
  const PoolPlan plan = plan_pool(spec, comm::Topology{});
  require_limits(plan.geometry);
  StartedPool pool{.memory = PoolMemory::create(plan),
                   .own_workers = std::make_unique<JobWorkers>()};
  pool.workers = pool.own_workers.get();
  NoticeBoard& board = pool.workers->board();
  board.post(pool.memory);
  const os::Program program{
      .program = std::filesystem::absolute(spec.programs.rollout_worker).string(),
      .args = {"--notices", fmt::format("{}:{}", getpid(), board.file().get())}};
  try {
    for (std::uint32_t w = 0; w < plan.geometry.num_workers(); ++w) {
      pool.processes.push_back(os::ChildProcess::run(program));
    }
  } catch (const std::system_error& error) {
    throw WorkerError("the rollout workers could not be started: {}", error.what());
  }
  wait_for_workers(pool.memory, kStart_s * slowdown(), [&] {
    for (os::ChildProcess& process : pool.processes) {
      if (const auto exit = process.poll()) {
        throw WorkerError("{} {} before it was ready", program.program, exit->describe());
      }
    }
  });
  return pool;
}

WorkerPool::WorkerPool(const WorkerPoolSpec& spec) : WorkerPool(start_alone(spec), spec) {}

}  // namespace traffic::rollout
