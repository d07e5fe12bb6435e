// Checks and ends the rollout workers of a node while a rank uses a pool (worker_watch.h).
#include "worker_watch.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <thread>

#include "traffic/core/clock.h"
#include "traffic/core/error.h"
#include "traffic/core/process.h"
#include "traffic/os/process_id.h"

namespace traffic::rollout {
namespace {

constexpr auto kPause = std::chrono::milliseconds(5);

}  // namespace

double slowdown() {
  constexpr double kMost = 20.0;
  const double cores = std::max(1U, std::thread::hardware_concurrency());
  return std::clamp(load_average() / cores, 1.0, kMost);
}

void require_open(const PoolMemory& memory, double grace_s) {
  const PoolHead& pool = memory.pool();
  if (pool.fatal.load(std::memory_order_acquire) == FatalState::kWritten) {
    throw WorkerError("{}", pool.fatal_text.get());
  }
  if (pool.closing.load(std::memory_order_acquire) != 0) {
    // The leader has failed. The wait gives it time to report its error first.
    std::this_thread::sleep_for(std::chrono::duration<double>(grace_s));
    throw WorkerError("rank {} has ended the simulations while this rank waited for them",
                      rank_block(memory.head(), 0).rank);
  }
}

void wait_for_workers(const PoolMemory& memory, double timeout_s,
                      const std::function<void()>& look) {
  const Stopwatch waited;
  for (std::uint32_t w = 0; w < memory.geometry().num_workers(); ++w) {
    const WorkerBlock& worker = worker_block(memory.head(), w);
    while (worker.state.load(std::memory_order_acquire) == WorkerState::kNone) {
      look();
      if (waited.seconds() > timeout_s) {
        throw WorkerError(
            "rollout_worker {} of {} was started, but gave no sign of life within {:.0f} s: is "
            "this "
            "machine too busy, or the program on a slow file system?",
            w, memory.geometry().num_workers(), timeout_s);
      }
      std::this_thread::sleep_for(kPause);
    }
  }
}

void require_workers_alive(const PoolMemory& memory, double limit_s,
                           std::int64_t oom_kills_before) {
  for (std::uint32_t w = 0; w < memory.geometry().num_workers(); ++w) {
    const WorkerBlock& worker = worker_block(memory.head(), w);
    if (worker.state.load(std::memory_order_acquire) != WorkerState::kRunning) continue;
    const pid_t pid = worker.process.pid.load(std::memory_order_relaxed);
    if (!os::is_running_or_unknown(worker.process)) {
      throw WorkerError("rollout_worker {} (pid {}) is gone; a signal ended it{}", w, pid,
                        memory_hint(oom_kills_before));
    }
    const auto seen_ns = worker.heartbeat_ns.load(std::memory_order_relaxed);
    const double silence_s = static_cast<double>(monotonic_ns() - seen_ns) * 1e-9;
    if (silence_s > limit_s) {
      throw WorkerError(
          "rollout_worker {} (pid {}) has given no sign of life for {:.0f} s: is it "
          "stopped?",
          w, pid, silence_s);
    }
  }
}

bool close_pool(const PoolMemory& memory, double timeout_s) {
  memory.pool().closing.store(1, std::memory_order_release);
  bool all_well = true;
  const Stopwatch waited;
  for (std::uint32_t w = 0; w < memory.geometry().num_workers(); ++w) {
    const WorkerBlock& worker = worker_block(memory.head(), w);
    const auto stopped = [&] {
      return worker.state.load(std::memory_order_acquire) == WorkerState::kStopped;
    };
    while (!stopped() && os::is_running_or_unknown(worker.process) &&
           waited.seconds() < timeout_s) {
      std::this_thread::sleep_for(kPause);
    }
    if (stopped()) continue;
    const pid_t pid = worker.process.pid.load(std::memory_order_relaxed);
    if (pid > 0 && os::is_running_or_unknown(worker.process)) {
      fmt::print(stderr, "rollout_worker {} (pid {}) does not end its simulations and is killed\n",
                 w, pid);
      kill(pid, SIGKILL);
    }
    all_well = false;
  }
  return all_well;
}

}  // namespace traffic::rollout
