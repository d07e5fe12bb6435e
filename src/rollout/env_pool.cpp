#include "traffic/rollout/env_pool.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "futex.h"
#include "mpi_spawn.h"
#include "period_codec.h"
#include "pool_memory.h"
#include "pool_setup.h"
#include "process_watch.h"
#include "slot.h"
#include "traffic/comm/mpi_session.h"
#include "traffic/core/clock.h"
#include "traffic/core/error.h"
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

  enum class Phase { kIdle, kBusy, kObserved };
  RankSlot slot;
  Phase phase = Phase::kIdle;
  std::uint32_t incarnation = 0;  ///< that observed
  Period period;
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

Programs programs_beside_this_one() {
  const auto folder = std::filesystem::read_symlink("/proc/self/exe").parent_path();
  return {.rollout_worker = folder / "rollout_worker", .sumo_env = folder / "sumo_env"};
}

struct EnvPool::State {
  explicit State(const comm::MpiSession& mpi_session) : session(mpi_session) {}

  void start(const config::Config& config, const Programs& programs);
  void share();
  void end_workers();
  MyEnv& mine(int env);
  std::optional<Event> look(int env);
  [[nodiscard]] bool any_busy(std::span<const int> envs);

  const comm::MpiSession& session;
  std::optional<PoolMemory> memory;
  SpawnedWorkers workers;  ///< of rank 0
  std::vector<int> my_envs;
  std::vector<std::vector<int>> groups;
  std::vector<MyEnv> envs;  ///< parallel to my_envs
  bool closed = false;
};

/// Rank 0: everything that may fail, before anybody waits for it.
void EnvPool::State::start(const config::Config& config, const Programs& programs) {
  if (session.num_nodes() > 1) {
    throw ConfigError("the simulations run on one node, the job has {}: run phases 2 and 3 on one",
                      session.num_nodes());
  }
  require_programs(programs);
  const PoolPlan plan = plan_pool(config, session.size(), programs);
  require_limits(plan.geometry);
  memory.emplace(PoolMemory::create(plan));
  workers = SpawnedWorkers(
      {.program = std::filesystem::absolute(programs.rollout_worker).string(),
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

/// All ranks: map what rank 0 has made, or fail with it.
void EnvPool::State::share() {
  const auto rank = static_cast<std::uint32_t>(session.rank());
  enter_self(rank_block(memory->head(), rank).process);
  for (std::uint32_t e = 0; e < memory->geometry().num_envs; ++e) {
    if (memory->geometry().rank_of_env(e) != rank) continue;
    my_envs.push_back(static_cast<int>(e));
    envs.emplace_back(RankSlot(memory->slot(e)));
  }
  const std::size_t half = (my_envs.size() + 1) / 2;
  const auto middle = my_envs.begin() + static_cast<std::ptrdiff_t>(half);
  groups.emplace_back(my_envs.begin(), middle);
  if (middle != my_envs.end()) groups.emplace_back(middle, my_envs.end());
}

EnvPool::EnvPool(const comm::MpiSession& session, const config::Config& config,
                 const Programs& programs)
    : state_(std::make_unique<State>(session)) {
  Outcome outcome;
  if (session.rank() == 0) {
    try {
      state_->start(config, programs);
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
  if (session.rank() != 0) {
    state_->memory.emplace(open_memory_file_of(outcome.pid, outcome.fd));
  }
  state_->share();
}

EnvPool::~EnvPool() {
  if (state_->session.rank() == 0) state_->end_workers();
}

void EnvPool::close() {
  state_->session.rendezvous("the end of the simulations", kMeetS);
  if (state_->session.rank() == 0) state_->end_workers();
}

void EnvPool::State::end_workers() {
  if (std::exchange(closed, true) || !memory) return;
  // Workers that were killed never take leave; mpirun ends the job then.
  if (rollout::end_workers(*memory, kCloseS)) workers.disconnect();
}

MyEnv& EnvPool::State::mine(int env) {
  const auto found = std::lower_bound(my_envs.begin(), my_envs.end(), env);
  TRAFFIC_CHECK(found != my_envs.end() && *found == env, "environment {} is not of rank {}", env,
                session.rank());
  return envs[static_cast<std::size_t>(found - my_envs.begin())];
}

bool EnvPool::State::any_busy(std::span<const int> of) {
  return std::any_of(of.begin(), of.end(),
                     [this](int env) { return mine(env).phase == MyEnv::Phase::kBusy; });
}

/// The answer of an environment, if it has come since the last look.
std::optional<Event> EnvPool::State::look(int env) {
  MyEnv& my = mine(env);
  if (my.phase != MyEnv::Phase::kBusy || my.slot.busy()) return std::nullopt;
  my.phase = MyEnv::Phase::kIdle;
  const RankSlot::Answer answer = my.slot.answer();
  Event event{.env = env, .lost = true, .why = {}};
  if (answer.kind == ReplyKind::kPeriod) {
    try {
      const auto buffer = my.slot.reply_buffer();
      if (answer.size > buffer.size()) {
        throw WorkerError("the answer claims {} bytes of {}", answer.size, buffer.size());
      }
      read_period(buffer.first(answer.size), my.period);
      my.phase = MyEnv::Phase::kObserved;
      my.incarnation = answer.incarnation;
      event.lost = false;
      return event;
    } catch (const WorkerError& error) {
      my.slot.reject(answer.incarnation);
      my.slot.counters().rejected.fetch_add(1, std::memory_order_relaxed);
      event.why = fmt::format("simulation {}: {}", env, error.what());
    }
  } else {
    event.why = my.slot.death();
  }
  my.slot.counters().lost.fetch_add(1, std::memory_order_relaxed);
  return event;
}

int EnvPool::num_envs() const { return static_cast<int>(state_->memory->geometry().num_envs); }
std::span<const int> EnvPool::my_envs() const { return state_->my_envs; }
std::span<const std::vector<int>> EnvPool::groups() const { return state_->groups; }
bool EnvPool::busy(int env) const { return state_->mine(env).phase == MyEnv::Phase::kBusy; }

void EnvPool::start_episode(int env, const EpisodeSpec& spec) {
  MyEnv& my = state_->mine(env);
  TRAFFIC_CHECK(my.phase != MyEnv::Phase::kBusy, "environment {} is busy", env);
  my.slot.post(CommandKind::kReset, 0, write_episode(spec, my.slot.command_buffer()));
  my.phase = MyEnv::Phase::kBusy;
}

void EnvPool::act(int env, std::span<const scene::Command> commands) {
  MyEnv& my = state_->mine(env);
  TRAFFIC_CHECK(my.phase == MyEnv::Phase::kObserved && !my.period.done(),
                "environment {} has no observation to act on", env);
  for (const scene::Command& command : commands) {
    TRAFFIC_CHECK(std::isfinite(command.value) && std::isfinite(command.hold_s),
                  "a command for vehicle {} is not finite", command.vehicle_id);
  }
  my.slot.post(CommandKind::kStep, my.incarnation,
               write_commands(commands, my.slot.command_buffer()));
  my.phase = MyEnv::Phase::kBusy;
}

std::optional<Event> EnvPool::wait_any(std::span<const int> envs, double timeout_s) {
  TRAFFIC_CHECK(state_->any_busy(envs), "none of {} environments is busy", envs.size());
  const Bell& bell = state_->memory->bell(static_cast<std::uint32_t>(state_->session.rank()));
  const Stopwatch waited;
  while (true) {
    // First the bell, then the slots: an answer in between ends the sleep at once.
    const auto rings = bell.rings.load(std::memory_order_acquire);
    require_open(*state_->memory, kCloseS + kGlanceS);
    for (const int env : envs) {
      if (auto event = state_->look(env)) return event;
    }
    const double left_s = timeout_s - waited.seconds();
    if (left_s <= 0) return std::nullopt;
    if (!sleep_while_equal(bell.rings, rings, std::min(left_s, kGlanceS))) {
      require_workers_alive(*state_->memory);
    }
  }
}

std::vector<Event> EnvPool::wait_all(std::span<const int> envs) {
  std::vector<Event> events;
  while (state_->any_busy(envs)) events.push_back(*wait_any(envs));
  const auto place = [&](const Event& e) { return std::find(envs.begin(), envs.end(), e.env); };
  std::sort(events.begin(), events.end(),
            [&](const Event& a, const Event& b) { return place(a) < place(b); });
  return events;
}

const Period& EnvPool::period(int env) const {
  const MyEnv& my = state_->mine(env);
  TRAFFIC_CHECK(my.phase == MyEnv::Phase::kObserved, "environment {} has no answer", env);
  return my.period;
}

PoolCounters EnvPool::counters() const {
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
