// LocalPool: a pool whose environments run in the process of the rank, one after the other.
#include "traffic/rollout/pool/local_pool.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <utility>

#include "traffic/core/error.h"

namespace traffic::rollout {

/// One environment of this rank. It is also the EnvHost to which the environment reports.
struct LocalPool::Local final : EnvHost {
  enum class Phase { kIdle, kBusy, kAnswered, kLost };

  explicit Local(PoolCounters& of_all) : counters(&of_all) {}
  std::uint64_t begin_step() override {
    ++counters->steps;
    return num_steps++;
  }
  [[nodiscard]] std::uint64_t episodes() const override { return num_episodes; }

  PoolCounters* counters;
  std::unique_ptr<Environment> environment = nullptr;
  Phase phase = Phase::kIdle;
  Environment::Answer answer = {};
  std::uint64_t num_steps = 0;
  std::uint64_t num_episodes = 0;
  std::uint32_t incarnation = 0;
  std::uint32_t failures_in_row = 0;
  std::string why = {};
};

LocalPool::LocalPool(LocalPoolSpec spec)
    : EnvPool(spec.rank, spec.num_ranks, spec.num_envs, 1), spec_(std::move(spec)) {
  lines_each_ = (spec_.max_answer_bytes + sizeof(Line) - 1) / sizeof(Line);
  rooms_.resize(lines_each_ * my_envs().size());
  for (const int env : my_envs()) {
    locals_.push_back(std::make_unique<Local>(counters_));
    replace(env);
  }
}

LocalPool::~LocalPool() = default;

std::span<std::byte> LocalPool::room(int env) const {
  auto* lines = const_cast<Line*>(rooms_.data()) + index_of(env) * lines_each_;
  return {reinterpret_cast<std::byte*>(lines), spec_.max_answer_bytes};
}

void LocalPool::replace(int env) {
  Local& local = *locals_[index_of(env)];
  ++local.incarnation;
  local.environment.reset();  // the old environment ends before the new one is made
  local.environment =
      spec_.make({.env = static_cast<std::uint32_t>(env), .incarnation = local.incarnation});
}

void LocalPool::lose(int env, const std::string& why) {
  Local& local = *locals_[index_of(env)];
  local.why = fmt::format("environment {} {}", env, why);
  local.phase = Local::Phase::kLost;
  ++local.failures_in_row;
  ++counters_.lost_episodes;
  ++counters_.restarts;
  replace(env);
}

void LocalPool::carry_out(int env, Order order, std::span<const std::byte> bytes) {
  Local& local = *locals_[index_of(env)];
  local.phase = Local::Phase::kBusy;
  try {
    local.answer = (*local.environment.*order)(bytes, room(env), local);
    TRAFFIC_CHECK(local.answer.size_bytes <= spec_.max_answer_bytes,
                  "an answer has {} bytes, but there is room for {}", local.answer.size_bytes,
                  spec_.max_answer_bytes);
  } catch (const std::exception& error) {
    lose(env, fmt::format("failed: {}", error.what()));
    return;
  }
  if (!local.answer.done) return;
  ++local.num_episodes;
  ++counters_.episodes;
  local.failures_in_row = 0;
}

void LocalPool::reset(int env, std::span<const std::byte> order) {
  TRAFFIC_CHECK(!busy(env), "environment {} is busy", env);
  carry_out(env, &Environment::reset, order);
}

void LocalPool::step(int env, std::span<const std::byte> order) {
  const Local& local = *locals_[index_of(env)];
  TRAFFIC_CHECK(local.phase == Local::Phase::kAnswered && !local.answer.done,
                "environment {} has no answer to continue from", env);
  carry_out(env, &Environment::step, order);
}

bool LocalPool::busy(int env) const {
  const Local& local = *locals_[index_of(env)];
  return local.phase == Local::Phase::kBusy || local.phase == Local::Phase::kLost;
}

void LocalPool::require_kept_running(const Local& local) const {
  if (local.failures_in_row > spec_.max_restarts) {
    throw WorkerError(
        "{} ({} failures in a row without a finished episode, rollout.max_restarts is {})",
        local.why, local.failures_in_row, spec_.max_restarts);
  }
}

std::optional<Event> LocalPool::look(int env) {
  Local& local = *locals_[index_of(env)];
  if (!busy(env)) return std::nullopt;
  if (local.phase == Local::Phase::kBusy) {
    local.phase = Local::Phase::kAnswered;
    return Event{.env = env, .done = local.answer.done};
  }
  require_kept_running(local);
  local.phase = Local::Phase::kIdle;
  return Event{.env = env, .lost = true, .why = std::exchange(local.why, {})};
}

std::optional<Event> LocalPool::wait_any(std::span<const int> envs, double /*timeout_s*/) {
  for (const int env : envs) {
    if (auto event = look(env)) return event;
  }
  TRAFFIC_CHECK(false, "none of the {} environments is busy", envs.size());
  return std::nullopt;
}

void LocalPool::wait_all(std::span<const int> envs, std::vector<Event>& events) {
  events.clear();
  for (const int env : envs) {
    if (auto event = look(env)) events.push_back(std::move(*event));
  }
}

bool LocalPool::has_answer(int env) const {
  return locals_[index_of(env)]->phase == Local::Phase::kAnswered;
}

std::span<const std::byte> LocalPool::answer(int env) const {
  TRAFFIC_CHECK(has_answer(env), "environment {} has no answer", env);
  return room(env).first(locals_[index_of(env)]->answer.size_bytes);
}

void LocalPool::reject(int env) {
  TRAFFIC_CHECK(has_answer(env), "environment {} has no answer to reject", env);
  ++counters_.rejected;
  lose(env, "sent an invalid observation and was replaced");
  Local& local = *locals_[index_of(env)];
  require_kept_running(local);
  local.phase = Local::Phase::kIdle;
}

void LocalPool::close() {
  for (const auto& local : locals_) local->environment.reset();
}

}  // namespace traffic::rollout
