// clang-format off
/// TrafficPool, through which a rank runs SUMO simulations in a pool of environments. Its interface
/// has episodes, orders and control periods where EnvPool has bytes.
///
/// A loop over groups, in which one group simulates while the policy decides for the other:
///
///     void run(TrafficPool& pool, std::int64_t episodes) {
///       std::vector<Event> events;
///       for (const int env : pool.my_envs()) pool.start_episode(env, {.traffic = {.seed = 1}});
///       while (episodes > 0) {
///         for (const auto& group : pool.groups()) {
///           pool.wait_all(group, events);
///           for (const Event& event : events) {
///             if (event.lost || pool.period(event.env).done()) {
///               --episodes;
///               pool.start_episode(event.env, {.traffic = {.seed = 2}});
///             } else {
///               pool.act(event.env, {});
///             }
///           }
///         }
///       }
///     }
// clang-format on
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "traffic/config/config.h"
#include "traffic/rollout/pool/env_pool.h"
#include "traffic/rollout/pool/worker_pool.h"
#include "traffic/rollout/traffic/period.h"

namespace traffic::rollout {

/// Paths of rollout_worker and of the simulation program, both in the folder of the running
/// program. The simulation program is sumo_env, or another program if AgentFormat::program of an
/// agent names it.
/// @param agents value of env.agents
/// @throws ConfigError if two agents need different simulation programs
Programs sumo_programs(const std::vector<std::string>& agents = {});

/// Programs, sizes and limits of a pool of SUMO simulations.
WorkerPoolSpec sumo_pool_spec(const config::Config& config, const Programs& programs);

/// Starts SUMO simulations in processes of their own. Collective.
/// @throws as WorkerPool
inline std::unique_ptr<EnvPool> start_sumo_pool(const comm::MpiSession& session,
                                                const config::Config& config,
                                                const Programs& programs) {
  return std::make_unique<WorkerPool>(session, sumo_pool_spec(config, programs));
}

/// Encodes episodes and orders for an EnvPool, and decodes and checks its answers. If an answer is
/// not a valid period, the episode is lost, as if its simulation had died.
class TrafficPool final : public EventSource {
 public:
  explicit TrafficPool(std::unique_ptr<EnvPool> pool);
  TrafficPool(const comm::MpiSession& session, const config::Config& config)
      : TrafficPool(start_sumo_pool(session, config, sumo_programs(config.env.agents))) {}

  [[nodiscard]] int num_envs() const { return pool_->num_envs(); }
  [[nodiscard]] std::span<const int> my_envs() const override { return pool_->my_envs(); }
  [[nodiscard]] std::span<const std::vector<int>> groups() const override {
    return pool_->groups();
  }

  /// Begins an episode; the answer is its first observation. The environment must not be busy.
  void start_episode(int env, const EpisodeSpec& spec);
  /// Sends the order to simulate one control period, and returns at once. The last answer must not
  /// have ended the episode.
  void act(int env, const Orders& orders);
  /// See EventSource::busy.
  [[nodiscard]] bool busy(int env) const override { return pool_->busy(env); }

  /// As EnvPool::wait_any.
  std::optional<Event> wait_any(std::span<const int> envs, double timeout_s = EnvPool::kNoLimit);
  using EventSource::wait_all;
  void wait_all(std::span<const int> envs, std::vector<Event>& events) override;

  /// The last answer. It stays valid until the next start_episode() or act() of this environment.
  [[nodiscard]] const Period& period(int env) const;

  [[nodiscard]] PoolCounters counters() const { return pool_->counters(); }
  /// Ends the simulations. Collective if EnvPool::close() of the pool is collective.
  void close() { pool_->close(); }

 private:
  std::unique_ptr<EnvPool> pool_;
  std::vector<Period> periods_;    ///< by environment; only those of this rank are used
  std::vector<std::byte> orders_;  ///< encoded orders of the last act()
};

}  // namespace traffic::rollout
