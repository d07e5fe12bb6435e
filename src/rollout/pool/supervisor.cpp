// The main loop of a rollout worker: starts its simulation processes, kills those that are stuck,
// and starts new ones for those that have died (supervisor.h).
#include "supervisor.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <system_error>
#include <utility>

#include "pool_memory.h"
#include "traffic/core/clock.h"
#include "traffic/core/error.h"
#include "traffic/core/process.h"

namespace traffic::rollout {
namespace {

constexpr std::int64_t kTickMs = 50;                  ///< longest time between two rounds of checks
constexpr std::int64_t kOrphanCheckNs = 250'000'000;  ///< time between two calls of orphaned()
/// A simulation that stays stopped (by a signal) for longer is replaced. If a whole job was stopped
/// and is continued, all of its processes run again within this time.
constexpr std::int64_t kStoppedNs = 500'000'000;
constexpr std::size_t kTailBytes = 1500;  ///< bytes of a process's output that are kept
constexpr int kMaxReads = 64;             ///< maximum reads of the output in one round of checks
constexpr double kFirstPauseS = 0.1;      ///< pause before the first delayed restart
constexpr double kLongestPauseS = 2.0;

std::int64_t to_ns(double seconds) { return static_cast<std::int64_t>(seconds * 1e9); }

}  // namespace

double restart_pause_s(std::uint32_t failures_in_row) {
  if (failures_in_row <= 1) return 0.0;
  const auto doublings = std::min(failures_in_row - 2, 16U);
  return std::min(kFirstPauseS * static_cast<double>(1U << doublings), kLongestPauseS);
}

Supervisor::Supervisor(os::Descriptor file, std::uint32_t worker)
    : file_(std::move(file)), worker_(worker), parent_(getppid()) {
  {
    const os::Mapping first = map_pool_memory(file_, 0, sizeof(PoolHead), os::Access::kReadOnly);
    check_head(first.bytes());
    geometry_ = head_of(first.bytes()).geometry;
  }
  TRAFFIC_CHECK(worker_ < geometry_.num_workers(),
                "worker {} does not exist in a pool of {} workers", worker_,
                geometry_.num_workers());
  head_ = map_pool_memory(file_, 0, geometry_.head_bytes(), os::Access::kReadWrite);
  bells_ = map_pool_memory(file_, geometry_.bells_offset(), geometry_.bells_bytes(),
                           os::Access::kReadWrite);
  const std::uint32_t first_env = worker_ * geometry_.envs_per_worker;
  const std::uint32_t end_env = std::min(first_env + geometry_.envs_per_worker, geometry_.num_envs);
  for (std::uint32_t e = first_env; e < end_env; ++e) {
    os::Mapping mapping = map_pool_memory(file_, geometry_.slot_offset(e), geometry_.slot_bytes(),
                                          os::Access::kReadWrite);
    const SlotView view = slot_view(mapping.bytes(), geometry_);
    Bell& bell = bell_of(bells_.bytes(), geometry_.rank_of_env(e));
    envs_.push_back({.index = e, .mapping = std::move(mapping), .slot = WorkerSlot(view, bell)});
  }
}

Supervisor::End Supervisor::run() {
  const PoolHead& pool = head_of(head_.bytes());
  WorkerBlock& block = worker_block(head_.bytes(), worker_);
  os::enter_self(block.process);
  std::int64_t orphan_check_ns = 0;
  End end = End::kClosed;
  while (pool.closing.load(std::memory_order_acquire) == 0) {
    const std::int64_t now_ns = monotonic_ns();
    block.heartbeat_ns.store(now_ns, std::memory_order_relaxed);
    block.state.store(WorkerState::kRunning, std::memory_order_release);
    if (now_ns >= orphan_check_ns) {
      orphan_check_ns = now_ns + kOrphanCheckNs;
      if (orphaned()) {
        end = End::kOrphaned;
        break;
      }
    }
    for (Env& env : envs_) tend(env);
    sleep_until_something_happens();
  }
  // Kill all processes before waiting for the first, so that they end at the same time.
  for (const Env& env : envs_) env.process.kill();
  for (Env& env : envs_) env.process = {};
  block.state.store(WorkerState::kStopped, std::memory_order_release);
  return end;
}

void Supervisor::tend(Env& env) {
  if (env.process.exists()) {
    read_output(env);
    if (const auto exit = env.process.poll()) {
      read_output(env);
      handle_death(env, how_it_ended(env, *exit));
    } else {
      kill_if_stuck(env);
    }
  }
  if (!env.process.exists() && !env.given_up && monotonic_ns() >= env.start_at_ns) start(env);
}

void Supervisor::read_output(Env& env) {
  std::array<std::byte, 4096> buffer{};
  // The loop is bounded, because a process may write without end.
  for (int i = 0; i < kMaxReads && env.output.is_open(); ++i) {
    const long got = os::read_some(env.output.get(), buffer);
    if (got < 0 && errno == EAGAIN) return;
    if (got <= 0) return env.output.reset();
    env.tail.append(reinterpret_cast<const char*>(buffer.data()), static_cast<std::size_t>(got));
    if (env.tail.size() > kTailBytes) env.tail.erase(0, env.tail.size() - kTailBytes);
  }
}

std::string Supervisor::how_it_ended(const Env& env, const os::Exit& exit) {
  if (!env.killed_because.empty()) return env.killed_because;
  if (std::string own_words = env.slot.explanation(); !own_words.empty()) return own_words;
  const std::string hint = exit.signal() == SIGKILL ? memory_hint(env.oom_kills_before) : "";
  return exit.describe() + hint + (env.tail.empty() ? "" : ", last output: " + env.tail);
}

void Supervisor::start(Env& env) {
  const std::uint32_t incarnation = env.slot.begin_incarnation();
  if (incarnation > 1) env.slot.counters().restarts.fetch_add(1, std::memory_order_relaxed);
  env.killed_because.clear();
  env.started_ns = monotonic_ns();
  env.stopped_ns = 0;
  env.tail.clear();
  env.oom_kills_before = num_oom_kills();
  try {
    os::Pipe pipe = os::make_pipe();
    fcntl(pipe.read_end.get(), F_SETFL, O_NONBLOCK);
    env.process = os::ChildProcess::run({.program = head_of(head_.bytes()).env_program.get(),
                                         .args = {"--env", fmt::format("{}", env.index),
                                                  "--incarnation", fmt::format("{}", incarnation)},
                                         .fds = {{STDOUT_FILENO, pipe.write_end.get()},
                                                 {STDERR_FILENO, pipe.write_end.get()},
                                                 {kSharedFd, file_.get()}},
                                         .expendable = true});
    env.output = std::move(pipe.read_end);
  } catch (const std::system_error& error) {
    handle_death(env, error.what());
  }
}

void Supervisor::kill_if_stuck(Env& env) {
  if (!env.killed_because.empty()) return;
  if (env.slot.rejected()) {
    env.killed_because = "sent an invalid observation and was replaced";
  } else if (env.slot.pending() || !env.slot.ready()) {
    const double limit_s = head_of(head_.bytes()).env_timeout_s;
    const std::int64_t seen_ns = std::max(env.started_ns, env.slot.last_activity_ns());
    const std::int64_t silent_ns = monotonic_ns() - seen_ns;
    if (silent_ns > to_ns(limit_s)) {
      env.killed_because = fmt::format(
          "gave no sign of life for {} s (rollout.env_timeout_s) and was killed", limit_s);
    } else if (silent_ns > kStoppedNs && stays_stopped(env)) {
      env.killed_because = "was stopped by a signal and was replaced";
    } else {
      if (silent_ns <= kStoppedNs) env.stopped_ns = 0;
      return;
    }
    env.slot.counters().timeouts.fetch_add(1, std::memory_order_relaxed);
  } else {
    return;
  }
  env.process.kill();
}

/// Whether a signal has stopped the simulation for longer than kStoppedNs. Such a simulation is
/// replaced without waiting for env_timeout_s, the time limit of a running simulation.
bool Supervisor::stays_stopped(Env& env) {
  if (!os::is_stopped(env.process.pid())) {
    env.stopped_ns = 0;
    return false;
  }
  const std::int64_t now_ns = monotonic_ns();
  if (env.stopped_ns == 0) env.stopped_ns = now_ns;
  return now_ns - env.stopped_ns > kStoppedNs;
}

void Supervisor::handle_death(Env& env, const std::string& how) {
  const std::uint64_t episodes = env.slot.counters().episodes.load(std::memory_order_relaxed);
  env.failures_in_row = episodes == env.episodes_at_failure ? env.failures_in_row + 1 : 1;
  env.episodes_at_failure = episodes;
  const std::string text =
      fmt::format("simulation {} {}", number_of_env(head_.bytes(), env.index), how);
  const std::uint32_t max_restarts = head_of(head_.bytes()).max_restarts;
  if (env.failures_in_row > max_restarts) {
    env.given_up = true;
    give_up(
        fmt::format("{} ({} failures in a row without a finished episode, "
                    "rollout.max_restarts is {})",
                    text, env.failures_in_row, max_restarts));
  }
  env.start_at_ns = monotonic_ns() + to_ns(restart_pause_s(env.failures_in_row));
  env.slot.report_death(text);
}

void Supervisor::give_up(const std::string& why) {
  PoolHead& pool = head_of(head_.bytes());
  FatalState none = FatalState::kNone;
  // Only the first worker that gives up writes its reason.
  if (!pool.fatal.compare_exchange_strong(none, FatalState::kWriting)) return;
  pool.fatal_text.set(why);
  pool.fatal.store(FatalState::kWritten, std::memory_order_release);
  for (std::uint32_t r = 0; r < geometry_.num_ranks; ++r) ring(bell_of(bells_.bytes(), r));
}

void Supervisor::sleep_until_something_happens() const {
  std::vector<pollfd> outputs;
  for (const Env& env : envs_) {
    if (env.output.is_open()) {
      outputs.push_back({.fd = env.output.get(), .events = POLLIN, .revents = 0});
    }
  }
  // poll() wakes when a process writes or ends. All other conditions are checked every kTickMs.
  poll(outputs.data(), outputs.size(), static_cast<int>(kTickMs));
}

bool Supervisor::orphaned() const {
  if (getppid() != parent_) return true;
  for (std::uint32_t r = 0; r < geometry_.num_ranks; ++r) {
    if (!os::is_running_or_unknown(rank_block(head_.bytes(), r).process)) return true;
  }
  return false;
}

}  // namespace traffic::rollout
