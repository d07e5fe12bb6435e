// TrafficPool: a pool of SUMO simulations. It encodes the orders of a rank, and decodes and checks
// the answers.
#include "traffic/rollout/traffic/traffic_pool.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "order_codec.h"
#include "period_codec.h"
#include "traffic/config/write.h"
#include "traffic/core/error.h"
#include "traffic/rollout/traffic/agent_format.h"

namespace traffic::rollout {

Programs sumo_programs(const std::vector<std::string>& agents) {
  std::string_view environment = format_of(kVehicles).program;
  for (const std::string& agent : agents) {
    const std::string_view own = format_of(agent).program;
    if (own == environment || own == format_of(kVehicles).program) continue;
    if (environment != format_of(kVehicles).program) {
      throw ConfigError(
          "env.agents: agent {} needs the simulation program {}, another agent needs {}; expected "
          "agents that the same program simulates",
          agent, own, environment);
    }
    environment = own;
  }
  return {.rollout_worker = program_beside_this_one("rollout_worker"),
          .environment = program_beside_this_one(std::string(environment))};
}

WorkerPoolSpec sumo_pool_spec(const config::Config& config, const Programs& programs) {
  return {
      .rollout = config.rollout,
      .programs = programs,
      .settings = config::to_toml(config),
      .max_order_bytes = order_bytes(config),
      .max_answer_bytes = period_bytes(config),
      .worker_silence_s = std::min(WorkerPoolSpec{}.worker_silence_s, config.comm.timeout_s / 2)};
}

TrafficPool::TrafficPool(std::unique_ptr<EnvPool> pool)
    : pool_(std::move(pool)), periods_(static_cast<std::size_t>(pool_->num_envs())) {}

void TrafficPool::start_episode(int env, const EpisodeSpec& spec) {
  pool_->reset(env, write_episode(spec));
}

void TrafficPool::act(int env, const Orders& orders) {
  write_orders(orders, orders_);
  pool_->step(env, orders_);
}

/// Waits, then reads and checks the answer. An answer is rejected, and its episode lost, if it is
/// not a valid period, or if it and the pool's event disagree on whether the episode has ended.
std::optional<Event> TrafficPool::wait_any(std::span<const int> envs, double timeout_s) {
  const auto event = pool_->wait_any(envs, timeout_s);
  if (!event || event->lost) return event;
  try {
    Period& period = periods_[static_cast<std::size_t>(event->env)];
    read_period(pool_->answer(event->env), period);
    if (period.done() != event->done) {
      throw WorkerError(
          "the simulation contradicts itself on whether the episode has ended: its control period "
          "says {}, but the kind of its answer says {}",
          period.done(), event->done);
    }
  } catch (const WorkerError& error) {
    pool_->reject(event->env);
    return Event{.env = event->env,
                 .lost = true,
                 .why = fmt::format("simulation {}: {}", event->env, error.what())};
  }
  return event;
}

void TrafficPool::wait_all(std::span<const int> envs, std::vector<Event>& events) {
  // Answers are read in the order in which they arrive, while other environments still simulate.
  const auto is_busy = [this](int env) { return busy(env); };
  events.clear();
  while (std::any_of(envs.begin(), envs.end(), is_busy)) events.push_back(*wait_any(envs));
  const auto place = [&](const Event& e) { return std::find(envs.begin(), envs.end(), e.env); };
  std::sort(events.begin(), events.end(),
            [&](const Event& a, const Event& b) { return place(a) < place(b); });
}

const Period& TrafficPool::period(int env) const {
  TRAFFIC_CHECK(pool_->has_answer(env), "environment {} has no answer", env);
  return periods_[static_cast<std::size_t>(env)];
}

}  // namespace traffic::rollout
