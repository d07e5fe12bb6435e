#include "traffic/rollout/pool/worker_pool.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <utility>

#include "mpi_spawn.h"
#include "pool_memory.h"
#include "pool_setup.h"
#include "slot.h"
#include "traffic/comm/mpi_session.h"
#include "traffic/config/num_simulations.h"
#include "traffic/core/clock.h"
#include "traffic/core/error.h"
#include "traffic/os/futex.h"
#include "traffic/os/process_id.h"
#include "worker_watch.h"

namespace traffic::rollout {
namespace {

constexpr double kStartS = 90.0;  ///< for MPI to start the workers (start_watch.h)
constexpr double kGlanceS = 0.5;  ///< between looks at the workers while waiting
constexpr double kCloseS = 10.0;  ///< for the workers to end
constexpr double kMeetS = 600.0;  ///< for the ranks to meet before the end

/// One environment of this rank.
struct MyEnv {
  explicit MyEnv(RankSlot rank_slot) : slot(rank_slot) {}

  enum class Phase { kIdle, kBusy, kAnswered };
  RankSlot slot;
  Phase phase = Phase::kIdle;
  RankSlot::Answer answer = {};  ///< checked
};

/// How rank 0 fared, for all.
struct Outcome {
  int code = 0;
  pid_t pid = 0;
  int fd = -1;
  std::array<char, 2048> message{};
};

Outcome failure(ExitCode code, const std::string& text) {
  Outcome outcome{.code = static_cast<int>(code)};
  text.copy(outcome.message.data(), outcome.message.size() - 1);
  return outcome;
}

}  // namespace

std::filesystem::path program_beside_this_one(const std::string& name) {
  return std::filesystem::read_symlink("/proc/self/exe").parent_path() / name;
}

struct WorkerPool::State {
  explicit State(const comm::MpiSession& mpi_session) : session(mpi_session) {}

  void start(const WorkerPoolSpec& spec);
  void end_workers();
  std::optional<Event> look(int env, MyEnv& my);

  const comm::MpiSession& session;
  std::optional<PoolMemory> memory;
  SpawnedWorkers workers;   ///< of rank 0
  std::vector<MyEnv> envs;  ///< parallel to my_envs()
  double worker_silence_s = 0;
  bool closed = false;
};

/// Rank 0: everything that may fail, before anybody waits for it.
void WorkerPool::State::start(const WorkerPoolSpec& spec) {
  if (session.num_nodes() > 1) {
    throw ConfigError("the simulations run on one node, the job has {}: run phases 2 and 3 on one",
                      session.num_nodes());
  }
  require_programs(spec.programs);
  const PoolPlan plan = plan_pool(spec, session.size());
  require_limits(plan.geometry);
  memory.emplace(PoolMemory::create(plan));
  workers = SpawnedWorkers(
      {.program = std::filesystem::absolute(spec.programs.rollout_worker).string(),
       .count = static_cast<int>(memory->geometry().num_workers()),
       .memory_pid = getpid(),
       .memory_fd = memory->file().get(),
       .timeout_s = kStartS,
       .on_timeout = [this] {
         session.exit_now(
             ExitCode::kWorkers,
             fmt::format("MPI has not started the rollout workers within {} s: is there "
                         "a free slot, and does mpirun see this machine?",
                         kStartS));
       }});
}

WorkerPool::WorkerPool(const comm::MpiSession& session, const WorkerPoolSpec& spec)
    : EnvPool(session.rank(), session.size(),
              static_cast<int>(config::num_simulations(spec.rollout)), 2),
      state_(std::make_unique<State>(session)) {
  state_->worker_silence_s = spec.worker_silence_s;
  Outcome outcome;
  if (session.rank() == 0) {
    try {
      state_->start(spec);
      outcome.pid = getpid();
      outcome.fd = state_->memory->file().get();
    } catch (const Error& error) {
      outcome = failure(error.code(), error.what());
    }
  }
  // Unlike a broadcast it sleeps while it waits, and leaves the cores to what is being started.
  session.rendezvous("the start of the rollout workers", 2 * kStartS);
  broadcast_from_rank0(session.fortran_comm(), &outcome, sizeof(outcome));
  if (outcome.code != 0) {
    throw Error(outcome.message.data(), static_cast<ExitCode>(outcome.code));
  }
  if (session.rank() != 0) state_->memory.emplace(open_pool_memory(outcome.pid, outcome.fd));
  const auto rank = static_cast<std::uint32_t>(session.rank());
  os::enter_self(rank_block(state_->memory->head(), rank).process);
  for (const int env : my_envs()) {
    state_->envs.emplace_back(RankSlot(state_->memory->slot(static_cast<std::uint32_t>(env))));
  }
}

WorkerPool::~WorkerPool() {
  if (state_->session.rank() == 0) state_->end_workers();
}

void WorkerPool::close() {
  state_->session.rendezvous("the end of the simulations", kMeetS);
  if (state_->session.rank() == 0) state_->end_workers();
}

void WorkerPool::State::end_workers() {
  if (std::exchange(closed, true) || !memory) return;
  // Workers that were killed never take leave; mpirun ends the job then.
  if (rollout::end_workers(*memory, kCloseS)) workers.disconnect();
}

/// The answer of an environment, if it has come since the last look.
std::optional<Event> WorkerPool::State::look(int env, MyEnv& my) {
  if (my.phase != MyEnv::Phase::kBusy || my.slot.busy()) return std::nullopt;
  my.phase = MyEnv::Phase::kIdle;
  my.answer = my.slot.answer();
  Event event{.env = env, .lost = true};
  if (my.answer.kind == ReplyKind::kLost) {
    event.why = my.slot.death();
  } else if (const auto room = my.slot.reply_buffer().size(); my.answer.size > room) {
    event.why =
        fmt::format("simulation {}: the answer claims {} bytes of {}", env, my.answer.size, room);
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
                "environment {} has no answer to go on from", env);
  my.slot.post(CommandKind::kStep, my.answer.incarnation, order);
  my.phase = MyEnv::Phase::kBusy;
}

std::optional<Event> WorkerPool::wait_any(std::span<const int> envs, double timeout_s) {
  TRAFFIC_CHECK(std::any_of(envs.begin(), envs.end(), [this](int env) { return busy(env); }),
                "none of {} environments is busy", envs.size());
  const Bell& bell = state_->memory->bell(static_cast<std::uint32_t>(state_->session.rank()));
  const Stopwatch waited;
  while (true) {
    // First the bell, then the slots: an answer in between ends the sleep at once.
    const auto rings = bell.rings.load(std::memory_order_acquire);
    require_open(*state_->memory, kCloseS + kGlanceS);
    for (const int env : envs) {
      if (auto event = state_->look(env, state_->envs[index_of(env)])) return event;
    }
    const double left_s = timeout_s - waited.seconds();
    if (left_s <= 0) return std::nullopt;
    if (!os::sleep_while_equal(bell.rings, rings, std::min(left_s, kGlanceS))) {
      require_workers_alive(*state_->memory, state_->worker_silence_s);
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
  for (std::uint32_t e = 0; e < state_->memory->geometry().num_envs; ++e) {
    const SlotCounters& of_env = state_->memory->slot(e).head->counters;
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
