/// Traffic in a pool of environments, as the ranks see it: episodes, commands, control periods.
///
///     rollout::TrafficPool pool(session, config);
///     for (int env : pool.my_envs()) pool.start_episode(env, {.seed = next_seed()});
///     while (wanted) {
///       for (const auto& group : pool.groups()) {          // one simulates while the other infers
///         for (const auto& event : pool.wait_all(group)) {
///           if (event.lost || pool.period(event.env).done()) {
///             pool.start_episode(event.env, {.seed = next_seed()});
///           } else {
///             pool.act(event.env, decide(pool.period(event.env)));
///           }
///         }
///       }
///     }
///     pool.close();
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "traffic/config/config.h"
#include "traffic/rollout/pool/env_pool.h"
#include "traffic/rollout/pool/worker_pool.h"
#include "traffic/rollout/traffic/period.h"
#include "traffic/rollout/traffic/signal_period.h"
#include "traffic/scene/action.h"

namespace traffic::rollout {

/// rollout_worker and sumo_env beside the running program.
Programs sumo_programs();

/// SUMO in processes of its own. Collective.
/// @throws as WorkerPool
std::unique_ptr<EnvPool> start_sumo_pool(const comm::MpiSession& session,
                                         const config::Config& config,
                                         const Programs& programs = sumo_programs());

/// Turns episodes and commands into a pool's orders and its answers into periods, which it checks:
/// an answer that is no period costs the episode as the death of its simulation does.
class TrafficPool final : public EventSource {
 public:
  /// What acts in the simulations.
  enum class Actors { kVehicles, kVehiclesAndLights };
  /// @param pool its environments speak period_codec.h, or joint_codec.h where lights act
  explicit TrafficPool(std::unique_ptr<EnvPool> pool, Actors actors = Actors::kVehicles);
  TrafficPool(const comm::MpiSession& session, const config::Config& config)
      : TrafficPool(start_sumo_pool(session, config),
                    config.env.lights_act() ? Actors::kVehiclesAndLights : Actors::kVehicles) {}

  [[nodiscard]] int num_envs() const { return pool_->num_envs(); }
  [[nodiscard]] std::span<const int> my_envs() const override { return pool_->my_envs(); }
  [[nodiscard]] std::span<const std::vector<int>> groups() const override {
    return pool_->groups();
  }

  /// Begins an episode; the answer is its first observation. Any state but busy.
  void start_episode(int env, const EpisodeSpec& spec);
  /// Commands for the next control period; returns at once. After an answer that was not the end.
  /// @param greens for lights that asked for one, where they act
  void act(int env, std::span<const scene::Command> commands,
           std::span<const scene::SignalCommand> greens = {});
  /// Commanded and not yet answered.
  [[nodiscard]] bool busy(int env) const override { return pool_->busy(env); }

  /// As EnvPool's.
  std::optional<Event> wait_any(std::span<const int> envs, double timeout_s = EnvPool::kNoLimit);
  using EventSource::wait_all;
  void wait_all(std::span<const int> envs, std::vector<Event>& events) override;

  /// The last answer; valid until the next start_episode() or act() of this environment.
  [[nodiscard]] const Period& period(int env) const;
  /// Of the lights, where they act; valid as long.
  [[nodiscard]] const SignalPeriod& signal_period(int env) const;

  [[nodiscard]] PoolCounters counters() const { return pool_->counters(); }
  /// Collective where the pool is.
  void close() { pool_->close(); }

 private:
  void read_answer(int env, std::span<const std::byte> bytes);

  std::unique_ptr<EnvPool> pool_;
  bool joint_;                                ///< lights act as well
  std::vector<Period> periods_;               ///< by environment; only this rank's are used
  std::vector<SignalPeriod> signal_periods_;  ///< likewise
  std::vector<std::byte> order_;              ///< of the last act()
};

}  // namespace traffic::rollout
