#include "traffic/rollout/traffic/signal_pool.h"

#include <fmt/format.h>

#include <utility>

#include "period_codec.h"
#include "signal_codec.h"
#include "traffic/core/error.h"

namespace traffic::rollout {

SignalPool::SignalPool(std::unique_ptr<EnvPool> pool)
    : pool_(std::move(pool)), periods_(static_cast<std::size_t>(pool_->num_envs())) {}

void SignalPool::start_episode(int env, const EpisodeSpec& spec) {
  pool_->reset(env, write_episode(spec));
}

void SignalPool::act(int env, std::span<const scene::SignalCommand> commands) {
  pool_->step(env, std::as_bytes(commands));
}

void SignalPool::wait_all(std::span<const int> envs, std::vector<Event>& events) {
  pool_->wait_all(envs, events);
  for (Event& event : events) {
    if (event.lost) continue;
    SignalPeriod& period = periods_[static_cast<std::size_t>(event.env)];
    try {
      period = read_signal_period(pool_->answer(event.env));
      if (period.done != event.done) {
        throw WorkerError("observation says {} and the simulation {} of the episode's end",
                          period.done, event.done);
      }
    } catch (const WorkerError& error) {
      pool_->reject(event.env);
      event = {.env = event.env,
               .lost = true,
               .why = fmt::format("simulation {}: {}", event.env, error.what())};
    }
  }
}

const SignalPeriod& SignalPool::period(int env) const {
  TRAFFIC_CHECK(pool_->has_answer(env), "environment {} has no answer", env);
  return periods_[static_cast<std::size_t>(env)];
}

}  // namespace traffic::rollout
