/// Carries episodes through the environments of a pool, whatever these are: simulations in
/// processes of their own, or thousands of games in the rank. What an episode is made of, what is
/// decided and what is kept is known to the handler; the collector knows who is free, who has
/// answered, and what is to be begun again because its environment was lost.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "traffic/core/time_split.h"
#include "traffic/rollout/pool/env_pool.h"

namespace traffic::rollout {

/// Where the episode of an environment stands.
struct EpisodeProgress {
  bool running = false;
  std::int64_t episode = -1;     ///< which of those asked for; of fragments: of this environment
  std::int64_t losses = 0;       ///< environments that it has cost: a retry may want another seed
  std::int64_t steps_left = 0;   ///< of fragments: to be contributed by this environment
  std::int64_t contributed = 0;  ///< of fragments: of this episode since the fragments began
};

/// One kind of environment, and what becomes of its episodes.
class EpisodeHandler {
 public:
  EpisodeHandler() = default;
  virtual ~EpisodeHandler() = default;
  EpisodeHandler(const EpisodeHandler&) = delete;
  EpisodeHandler& operator=(const EpisodeHandler&) = delete;

  /// Kept by the handler, since it may outlive a call of the collector; changed by the collector.
  virtual EpisodeProgress& progress(int env) = 0;
  /// Orders the first answer of the episode in progress(env).
  virtual void begin(int env) = 0;
  /// An answer has come.
  /// @return whether to go on from it; false: the handler has ordered something itself
  virtual bool take_in(int /*env*/) { return true; }
  /// What take_in() saw was the episode's last answer.
  virtual void end(int /*env*/) {}
  /// The environment failed and has been replaced; begin() of the same episode follows.
  virtual void lose(const Event& /*event*/) {}
  /// Answers that came together are to be looked at, before decide() and cut().
  virtual void observe(std::span<const int> /*envs*/) {}
  /// Orders a step of each.
  virtual void decide(std::span<const int> envs) = 0;
};

/// Of environments whose episodes outlast what is collected at once.
class FragmentHandler : public EpisodeHandler {
 public:
  /// The episode goes on in a new call of the collector.
  /// @return whether its last answer is to be decided on; false: the handler has ordered something
  virtual bool resume(int env) = 0;
  /// The environment has contributed its steps; the answer that it holds waits for the next call.
  virtual void cut(int env) = 0;
};

/// Not collective: each rank carries what is its own.
class Collector {
 public:
  using Stop = std::function<bool()>;

  /// @param time_split gets the waiting as kSimulate, the handling as kInfer
  Collector(EventSource& pool, TimeSplit& time_split) : pool_(pool), time_split_(time_split) {}

  /// Episodes 0 .. count - 1: who is free takes the next.
  /// @param stop asked between answers
  /// @return false if it was stopped: what was kept is incomplete, environments may be busy
  /// @throws WorkerError when an environment cannot be kept running
  bool run_episodes(std::size_t count, EpisodeHandler& handler, const Stop& stop = {});
  /// Every environment goes on where it stands and contributes as many steps, in as many episodes
  /// as that takes.
  /// @return, @throws likewise
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
