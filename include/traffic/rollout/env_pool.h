/// Simulations in processes of their own, as the ranks of a node see them.
///
///     rollout::EnvPool pool(session, config);
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
///
/// Rank 0 starts rollout_worker processes through MPI; each keeps a few sumo_env processes running.
/// Observations and commands go through memory that all map; nothing spins. A simulation that dies
/// or hangs costs its episode: its worker replaces it. Environment e belongs to rank e modulo the
/// number of ranks. Not thread-safe; the constructor and close() are collective, the rest is not.
#pragma once

#include <cstdint>
#include <filesystem>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "traffic/config/config.h"
#include "traffic/rollout/period.h"
#include "traffic/scene/action.h"

namespace traffic::comm {
class MpiSession;
}

namespace traffic::rollout {

/// The programs of a pool.
struct Programs {
  std::filesystem::path rollout_worker;
  std::filesystem::path sumo_env;
};
/// Those in the folder of the running program.
Programs programs_beside_this_one();

/// An environment has answered.
struct Event {
  int env = -1;
  bool lost = false;  ///< its episode is; otherwise period(env) is the answer
  std::string why;    ///< lost: how the simulation ended, in a sentence
};

/// Since the pool began, of all environments.
struct PoolCounters {
  std::uint64_t steps = 0;          ///< simulation steps
  std::uint64_t episodes = 0;       ///< brought to their end
  std::uint64_t lost_episodes = 0;  ///< ended by the death of their simulation
  std::uint64_t restarts = 0;       ///< simulations started again
  std::uint64_t timeouts = 0;       ///< of those: killed because they hung
  std::uint64_t rejected = 0;       ///< of those: replaced because they answered rubbish
};

class EnvPool {
 public:
  static constexpr double kNoLimit = std::numeric_limits<double>::infinity();

  /// Collective. Starts the workers; simulations become ready meanwhile and later.
  /// @throws WorkerError on every rank if a program is missing or cannot be started
  /// @throws ResourceError if the limits of this user leave no room
  EnvPool(const comm::MpiSession& session, const config::Config& config,
          const Programs& programs = programs_beside_this_one());
  /// Without close(), as when an error unwinds the stack: rank 0 ends the workers.
  ~EnvPool();
  EnvPool(const EnvPool&) = delete;
  EnvPool& operator=(const EnvPool&) = delete;

  [[nodiscard]] int num_envs() const;
  [[nodiscard]] std::span<const int> my_envs() const;
  /// my_envs() in two halves (one when there is but one environment, none without).
  [[nodiscard]] std::span<const std::vector<int>> groups() const;

  /// Begins an episode; the answer is its first observation. Any state but busy.
  void start_episode(int env, const EpisodeSpec& spec);
  /// Commands for the next control period; returns at once. After an answer that was not the end.
  void act(int env, std::span<const scene::Command> commands);
  /// Commanded and not yet answered.
  [[nodiscard]] bool busy(int env) const;

  /// The first of these environments whose answer has come, busy ones at call; nothing when the
  /// time is up.
  /// @throws WorkerError when a simulation cannot be kept running, with its own last message, or a
  /// worker is gone
  std::optional<Event> wait_any(std::span<const int> envs, double timeout_s = kNoLimit);
  /// The answers of all of these that are busy, in their order. env_timeout_s of the configuration
  /// bounds the wait.
  /// @throws as wait_any
  std::vector<Event> wait_all(std::span<const int> envs);

  /// The last answer; valid until the next start_episode() or act() of this environment.
  [[nodiscard]] const Period& period(int env) const;

  [[nodiscard]] PoolCounters counters() const;

  /// Collective: when all ranks are here, ends simulations and workers.
  void close();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace traffic::rollout
