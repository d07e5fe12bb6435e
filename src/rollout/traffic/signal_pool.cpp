#include "traffic/rollout/traffic/signal_pool.h"

#include <utility>

#include "checked_answer.h"
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
    event = checked_answer(*pool_, event, [&](std::span<const std::byte> bytes) {
      SignalPeriod& period = periods_[static_cast<std::size_t>(event.env)];
      period = read_signal_period(bytes);
      return period.done;
    });
  }
}

const SignalPeriod& SignalPool::period(int env) const {
  TRAFFIC_CHECK(pool_->has_answer(env), "environment {} has no answer", env);
  return periods_[static_cast<std::size_t>(env)];
}

}  // namespace traffic::rollout
