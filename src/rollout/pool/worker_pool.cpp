// WorkerPool: a pool whose environments run in processes that the rollout workers of a node start.
// The ranks exchange commands and answers with them through shared memory (layout.h).
#include "traffic/rollout/pool/worker_pool.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "job_workers.h"
#include "pool_memory.h"
#include "slot.h"
#include "started_pool.h"
#include "traffic/config/num_simulations.h"
#include "traffic/core/clock.h"
#include "traffic/core/error.h"
#include "traffic/core/process.h"
#include "traffic/os/futex.h"
#include "traffic/os/process_id.h"
#include "worker_watch.h"

namespace traffic::rollout {
namespace {

constexpr double kGlanceS = 0.5;  ///< seconds between checks of the workers while a rank waits
constexpr double kCloseS = 10.0;  ///< seconds within which workers must end their simulations

/// One environment of this rank.
struct MyEnv {
  explicit MyEnv(RankSlot rank_slot) : slot(rank_slot) {}

  enum class Phase { kIdle, kBusy, kAnswered };
  RankSlot slot;
  Phase phase = Phase::kIdle;
  RankSlot::Answer answer = {};  ///< its size has been checked if the phase is kAnswered
};

}  // namespace

std::filesystem::path program_beside_this_one(const std::string& name) {
  return std::filesystem::read_symlink("/proc/self/exe").parent_path() / name;
}

struct WorkerPool::State {
  explicit State(StartedPool started) : pool(std::move(started)) {}

  [[nodiscard]] std::uint32_t local_rank() const {
    return static_cast<std::uint32_t>(pool.topology.local_rank());
  }
  void close();
  std::optional<Event> look(int env, MyEnv& my);

  StartedPool pool;
  std::vector<MyEnv> envs;      ///< one for each element of my_envs(), in this order
  double worker_silence_s = 0;  ///< a worker that is silent for longer counts as stopped
  std::int64_t oom_kills_before = num_oom_kills();
  bool closed = false;
};

WorkerPool::WorkerPool(StartedPool started, const WorkerPoolSpec& spec)
    : EnvPool(started.topology.rank, started.topology.size,
              static_cast<int>(config::num_simulations(spec.rollout)), 2),
      state_(std::make_unique<State>(std::move(started))) {
  state_->worker_silence_s = spec.worker_silence_s;
  const comm::Topology& topology = state_->pool.topology;
  const PoolMemory& memory = state_->pool.memory;
  os::enter_self(rank_block(memory.head(), state_->local_rank()).process);
  // Among all ranks, the k-th environment of this rank has index k * size + rank. Within the node
  // it has index k * local_size + local_rank.
  for (const int env : my_envs()) {
    const auto round = static_cast<std::uint32_t>(env / topology.size);
    state_->envs.emplace_back(RankSlot(memory.slot(
        round * static_cast<std::uint32_t>(topology.local_size()) + state_->local_rank())));
  }
}

WorkerPool::~WorkerPool() { state_->close(); }

void WorkerPool::close() {
  state_->pool.meet();
  state_->close();
}

/// The leader (first rank) of each node closes the pool there, and the workers then wait for the
/// next pool. If a worker does not end its simulations in time, the leader kills it; mpirun then
/// ends the job.
void WorkerPool::State::close() {
  if (std::exchange(closed, true) || !pool.topology.is_leader()) return;
  pool.workers->board().withdraw(pool.memory);
  close_pool(pool.memory, kCloseS);
  pool.workers->give_back(static_cast<int>(pool.memory.geometry().num_workers()));
}

/// Returns the event of an environment if it has answered or failed since the last call.
std::optional<Event> WorkerPool::State::look(int env, MyEnv& my) {
  if (my.phase != MyEnv::Phase::kBusy || my.slot.busy()) return std::nullopt;
  my.phase = MyEnv::Phase::kIdle;
  my.answer = my.slot.answer();
  Event event{.env = env, .lost = true};
  if (my.answer.kind == ReplyKind::kLost) {
    event.why = my.slot.death();
  } else if (const auto room = my.slot.reply_buffer().size(); my.answer.size > room) {
    event.why =
        fmt::format("simulation {}: the answer claims to have {} bytes, but there is room for {}",
                    env, my.answer.size, room);
    my.slot.reject(my.answer.incarnation);
    my.slot.counters().rejected.fetch_add(1, std::memory_order_relaxed);
  } else {
    my.phase = MyEnv::Phase::kAnswered;
    event.lost = false;
    event.done = my.answer.kind == ReplyKind::kEnd;
    return event;
  }
  my.slot.counters().lost.fetch_add(1, std::memory_order_relaxed);
  return event;
}

bool WorkerPool::busy(int env) const {
  return state_->envs[index_of(env)].phase == MyEnv::Phase::kBusy;
}

void WorkerPool::reset(int env, std::span<const std::byte> order) {
  MyEnv& my = state_->envs[index_of(env)];
  TRAFFIC_CHECK(my.phase != MyEnv::Phase::kBusy, "environment {} is busy", env);
  my.slot.post(CommandKind::kReset, 0, order);
  my.phase = MyEnv::Phase::kBusy;
}

void WorkerPool::step(int env, std::span<const std::byte> order) {
  MyEnv& my = state_->envs[index_of(env)];
  TRAFFIC_CHECK(my.phase == MyEnv::Phase::kAnswered && my.answer.kind != ReplyKind::kEnd,
                "environment {} has no answer to continue from", env);
  my.slot.post(CommandKind::kStep, my.answer.incarnation, order);
  my.phase = MyEnv::Phase::kBusy;
}

std::optional<Event> WorkerPool::wait_any(std::span<const int> envs, double timeout_s) {
  TRAFFIC_CHECK(std::any_of(envs.begin(), envs.end(), [this](int env) { return busy(env); }),
                "none of the {} environments is busy", envs.size());
  const PoolMemory& memory = state_->pool.memory;
  const Bell& bell = memory.bell(state_->local_rank());
  const Stopwatch waited;
  while (true) {
    // The bell is read before the slots. An answer that arrives after a slot was read changes the
    // bell, so sleep_while_equal() returns at once.
    const auto rings = bell.rings.load(std::memory_order_acquire);
    require_open(memory, kCloseS + kGlanceS);
    for (const int env : envs) {
      if (auto event = state_->look(env, state_->envs[index_of(env)])) return event;
    }
    const double left_s = timeout_s - waited.seconds();
    if (left_s <= 0) return std::nullopt;
    if (!os::sleep_while_equal(bell.rings, rings, std::min(left_s, kGlanceS))) {
      require_workers_alive(memory, state_->worker_silence_s, state_->oom_kills_before);
    }
  }
}

void WorkerPool::wait_all(std::span<const int> envs, std::vector<Event>& events) {
  events.clear();
  for (const int env : envs) {
    if (busy(env)) events.push_back(*wait_any(std::span(&env, 1), kNoLimit));
  }
}

bool WorkerPool::has_answer(int env) const {
  return state_->envs[index_of(env)].phase == MyEnv::Phase::kAnswered;
}

std::span<const std::byte> WorkerPool::answer(int env) const {
  TRAFFIC_CHECK(has_answer(env), "environment {} has no answer", env);
  const MyEnv& my = state_->envs[index_of(env)];
  return my.slot.reply_buffer().first(my.answer.size);
}

void WorkerPool::reject(int env) {
  TRAFFIC_CHECK(has_answer(env), "environment {} has no answer to reject", env);
  MyEnv& my = state_->envs[index_of(env)];
  my.phase = MyEnv::Phase::kIdle;
  my.slot.reject(my.answer.incarnation);
  my.slot.counters().rejected.fetch_add(1, std::memory_order_relaxed);
  my.slot.counters().lost.fetch_add(1, std::memory_order_relaxed);
}

PoolCounters WorkerPool::counters() const {
  PoolCounters total;
  for (std::uint32_t e = 0; e < state_->pool.memory.geometry().num_envs; ++e) {
    const SlotCounters& of_env = state_->pool.memory.slot(e).head->counters;
    total.steps += of_env.steps.load(std::memory_order_relaxed);
    total.episodes += of_env.episodes.load(std::memory_order_relaxed);
    total.lost_episodes += of_env.lost.load(std::memory_order_relaxed);
    total.restarts += of_env.restarts.load(std::memory_order_relaxed);
    total.timeouts += of_env.timeouts.load(std::memory_order_relaxed);
    total.rejected += of_env.rejected.load(std::memory_order_relaxed);
  }
  return total;
}

}  // namespace traffic::rollout
