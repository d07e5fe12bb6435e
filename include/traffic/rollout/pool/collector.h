/// The collector: the loop in which a rank runs episodes in the environments of a pool
/// (env_pool.h). Trainers and evaluations call it.
///
/// The collector tracks which environments are free, which have answered, and which episodes must
/// start again because their environment failed. The caller's handler (EpisodeHandler) starts the
/// episodes, decides on actions and keeps the experience.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "traffic/core/time_split.h"
#include "traffic/rollout/pool/env_pool.h"

namespace traffic::rollout {

/// Progress of the episode that an environment runs. With run_fragments(), an environment
/// contributes a fixed number of steps per call, a fragment, which may begin or end within an
/// episode.
struct EpisodeProgress {
  bool running = false;
  /// Index of the episode: in run_episodes() among all episodes of the call, in run_fragments()
  /// among those of this environment.
  std::int64_t episode = -1;
  std::int64_t losses = 0;  ///< number of failures of the environment in this episode; the handler
                            ///< may choose another seed for the next attempt
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

  /// Returns the progress of an environment, which the collector updates. The handler stores it,
  /// because an episode may continue in the next call of the collector.
  virtual EpisodeProgress& progress(int env) = 0;
  /// Sends the order that starts the episode number progress(env).episode.
  virtual void begin(int env) = 0;
  /// Processes an answer of an environment.
  /// @return true if the collector shall continue with end() or with observe() and decide(); false
  /// if the handler has already sent the next order
  virtual bool take_in(int /*env*/) { return true; }
  /// Called after take_in() of an episode's last answer.
  virtual void end(int /*env*/) {}
  /// Called when an environment has failed and was replaced; begin() of the same episode follows.
  virtual void lose(const Event& /*event*/) {}
  /// Observes the latest answers of several environments. The collector then calls cut() or
  /// decide() for them.
  virtual void observe(std::span<const int> /*envs*/) {}
  /// Chooses actions for these environments and sends each of them the order of its next step.
  virtual void decide(std::span<const int> envs) = 0;
};

/// Handles episodes that are longer than one call of the collector.
class FragmentHandler : public EpisodeHandler {
 public:
  /// Called when an episode of the previous call continues in a new call of the collector.
  /// @return true if the collector shall call decide() for the last answer; false if the handler
  /// has already sent the next order
  virtual bool resume(int env) = 0;
  /// Called when an environment has contributed all its steps in this call. The next call of the
  /// collector continues from its last answer.
  virtual void cut(int env) = 0;
};

/// Its calls are not collective: each rank runs its own environments.
class Collector {
 public:
  using Stop = std::function<bool()>;

  /// @param time_split receives the time spent waiting for environments as kSimulate, and the time
  /// spent in the handler as kInfer
  Collector(EventSource& pool, TimeSplit& time_split) : pool_(pool), time_split_(time_split) {}

  /// Runs episodes 0 .. count - 1. A free environment takes the next episode.
  /// @param stop called regularly; the collector stops once it returns true
  /// @return true if all episodes have ended; false if `stop` ended the call, so that the
  /// experience is incomplete and environments may be busy
  /// @throws WorkerError when an environment cannot be kept running
  bool run_episodes(std::size_t count, EpisodeHandler& handler, const Stop& stop = {});
  /// Collects `steps` steps from every environment. An environment first continues its episode from
  /// the previous call; when an episode ends, it begins the next one.
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
