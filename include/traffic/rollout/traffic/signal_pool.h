/// Simulations whose traffic lights act, in a pool of environments, as the ranks see them:
/// episodes, greens, control periods.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "traffic/rollout/pool/env_pool.h"
#include "traffic/rollout/traffic/period.h"
#include "traffic/rollout/traffic/signal_period.h"

namespace traffic::rollout {

/// Turns episodes and commands into a pool's orders and its answers into periods, which it checks:
/// an answer that is no period costs the episode as the death of its simulation does.
class SignalPool final : public EventSource {
 public:
  /// @param pool its environments are made with env.agents = ["lights"]
  explicit SignalPool(std::unique_ptr<EnvPool> pool);

  [[nodiscard]] int num_envs() const { return pool_->num_envs(); }
  [[nodiscard]] std::span<const int> my_envs() const override { return pool_->my_envs(); }
  [[nodiscard]] std::span<const std::vector<int>> groups() const override {
    return pool_->groups();
  }
  /// Begins an episode; the answer is its first observation. Of the description traffic,
  /// demand_scale, signal_graph and controller count: "" for the rank, "none"
  /// for the lights' own programs, or a scripted one.
  void start_episode(int env, const EpisodeSpec& spec);
  /// Greens for lights that asked for one, then a control period.
  void act(int env, std::span<const scene::SignalCommand> commands);
  [[nodiscard]] bool busy(int env) const override { return pool_->busy(env); }
  using EventSource::wait_all;
  void wait_all(std::span<const int> envs, std::vector<Event>& events) override;
  /// The last answer; valid until the next order to this environment.
  [[nodiscard]] const SignalPeriod& period(int env) const;

  [[nodiscard]] PoolCounters counters() const { return pool_->counters(); }
  /// Collective where the pool is.
  void close() { pool_->close(); }

 private:
  std::unique_ptr<EnvPool> pool_;
  std::vector<SignalPeriod> periods_;  ///< by environment; only this rank's are used
};

}  // namespace traffic::rollout
