/// Runs episodes in the environments of a pool: simulations in separate processes, or thousands of
/// games in the rank. A handler knows what an episode is, decides on actions and keeps experience.
/// The collector knows which environments are free, which have answered, and which episodes must
/// begin again because their environments were lost.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "traffic/core/time_split.h"
#include "traffic/rollout/pool/env_pool.h"

namespace traffic::rollout {

/// Progress of the episode of an environment. Fragments are parts of episodes (run_fragments()).
struct EpisodeProgress {
  bool running = false;
  /// Index of the episode: in run_episodes() among all episodes of the call, in run_fragments()
  /// among those of this environment.
  std::int64_t episode = -1;
  std::int64_t losses = 0;  ///< number of times that the episode was lost; a retry may use another
                            ///< seed
  std::int64_t steps_left =
      0;  ///< for fragments: steps that this environment still has to contribute
  std::int64_t contributed =
      0;  ///< for fragments: steps of this episode since run_fragments() began
};

/// Handles the episodes of one kind of environment.
class EpisodeHandler {
 public:
  EpisodeHandler() = default;
  virtual ~EpisodeHandler() = default;
  EpisodeHandler(const EpisodeHandler&) = delete;
  EpisodeHandler& operator=(const EpisodeHandler&) = delete;

  /// The handler keeps the progress, which may outlive a call of the collector; the collector
  /// changes it.
  virtual EpisodeProgress& progress(int env) = 0;
  /// Orders the first answer of the episode in progress(env).
  virtual void begin(int env) = 0;
  /// Takes an answer.
  /// @return whether the collector continues with it; false if the handler has given an order
  /// itself
  virtual bool take_in(int /*env*/) { return true; }
  /// Called after take_in() of an episode's last answer.
  virtual void end(int /*env*/) {}
  /// Called when an environment has failed and was replaced; begin() of the same episode follows.
  virtual void lose(const Event& /*event*/) {}
  /// Observes answers that came together, before decide() and cut().
  virtual void observe(std::span<const int> /*envs*/) {}
  /// Orders a step of each environment.
  virtual void decide(std::span<const int> envs) = 0;
};

/// Handles episodes that are longer than one call of the collector.
class FragmentHandler : public EpisodeHandler {
 public:
  /// Called when an episode continues in a new call of the collector.
  /// @return whether decide() follows for its last answer; false if the handler has given an order
  virtual bool resume(int env) = 0;
  /// Called when an environment has contributed its steps. Its answer waits for the next call.
  virtual void cut(int env) = 0;
};

/// Not collective: each rank runs its own environments.
class Collector {
 public:
  using Stop = std::function<bool()>;

  /// @param time_split counts waiting as kSimulate and handling as kInfer
  Collector(EventSource& pool, TimeSplit& time_split) : pool_(pool), time_split_(time_split) {}

  /// Runs episodes 0 .. count - 1. A free environment takes the next episode.
  /// @param stop called between answers; the collector stops once it returns true
  /// @return false if it was stopped: the experience is incomplete, environments may be busy
  /// @throws WorkerError when an environment cannot be kept running
  bool run_episodes(std::size_t count, EpisodeHandler& handler, const Stop& stop = {});
  /// Every environment continues its episode and contributes this number of steps, from as many
  /// episodes as that takes.
  /// @return, @throws as run_episodes()
  bool run_fragments(std::int64_t steps, FragmentHandler& handler, const Stop& stop = {});

 private:
  struct Call;
  bool drive(Call& call, std::vector<int> deciding);
  void begin(Call& call, int env);
  void handle(Call& call, const Event& event, std::vector<int>& deciding);
  void decide(Call& call, std::vector<int>& envs);

  EventSource& pool_;
  TimeSplit& time_split_;
};

}  // namespace traffic::rollout
