/// Runs the episodes of an evaluation, each in a process of its own, and receives their reports.
/// Evaluations and trials use it.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <set>
#include <vector>

#include "traffic/core/clock.h"
#include "traffic/core/process.h"
#include "traffic/os/process_pool.h"
#include "traffic/train/evaluate/evaluation.h"

namespace traffic::train {

/// A message from the process of an episode to the process of the evaluation. A mark is a point of
/// simulated time at which the process sends the metrics so far.
struct EpisodeReport {
  enum class Kind : std::int32_t { kRunning, kMark, kDone, kFailed };
  Kind kind = Kind::kRunning;
  std::int32_t exit_code = 0;  ///< kFailed: exit code of the error
  std::size_t task = 0;        ///< number of the episode, see NextTask
  double share = 0;            ///< share of the episode that is done
  /// kMark: number k of the mark, from 0; it is reached after k * mark_s seconds.
  std::int64_t mark = 0;
  EvaluatedEpisode episode{};     ///< kMark, kDone: the metrics so far
  std::array<char, 2048> text{};  ///< kFailed: the error message
};

/// Runs as many episodes at a time as the plan has jobs. If a process dies or sends no report for
/// rollout.env_timeout_s, its episode is run once more. The destructor kills the running processes.
///
/// A process runs only one episode, because SUMO's results may depend on the addresses of its
/// objects and thus on what the process simulated before.
class EpisodeProcesses {
 public:
  /// Chooses the next episode to start. Called while fewer processes run than the plan has jobs.
  /// @return the task, a number that identifies the episode: index of the controller * number of
  ///   seeds of the plan + index of the seed. Nothing if no episode should start now
  using NextTask = std::function<std::optional<std::size_t>()>;

  /// Starts no process yet.
  /// @param plan must outlive this object
  /// @param mark_s simulated time between two reports of kind kMark; the first one comes at the
  ///   start of the episode. 0 means that there are no such reports
  EpisodeProcesses(const EvaluationPlan& plan, NextTask next_task, double mark_s = 0.0);

  /// Waits until an episode reaches a mark or ends.
  /// @param goes_on called about once a second while this function waits; if it returns false, the
  ///   function returns
  /// @return a report of kind kMark or kDone; nothing if goes_on returned false, or if no process
  ///   runs and next_task starts none
  /// @throws Error that names the episode. Its exit code is that of the error that the episode
  ///     reported, or ExitCode::kWorkers if the episode's process died or fell silent twice
  /// @throws ResourceError if a process cannot be started
  std::optional<EpisodeReport> next(const std::function<bool()>& goes_on);

  /// Ends an episode early by killing its process. No more reports of this episode follow.
  void end(std::size_t task);

  /// Sum over the running episodes of the share that is done.
  [[nodiscard]] double running_share() const;

 private:
  struct Process {
    std::size_t task = 0;
    double share = 0.0;     ///< share of the episode that is done
    Stopwatch silent = {};  ///< time since the last report
    bool reported = false;  ///< the episode's result has arrived, or the episode was ended early
    bool killed = false;    ///< the process was killed or has ended, so kill_silent() skips it
  };

  void start_waiting();
  void start(std::size_t task, int attempt);
  int run_task(std::size_t task, int attempt, const os::Messages& parent) const;
  void kill_silent();
  std::optional<EpisodeReport> take(const os::ProcessPool::Event& event);
  void take_end(Process& process, const os::Exit& exit);

  const EvaluationPlan& plan_;
  NextTask next_task_;
  double mark_s_;
  os::ProcessPool pool_;
  std::deque<os::ProcessPool::Event> events_;
  std::vector<Process> processes_;
  std::set<std::size_t> retried_;  ///< tasks whose episodes have been started a second time
  double last_interval_s_ = steady_seconds();  ///< time of the last call of goes_on
  std::int64_t oom_kills_before_ = num_oom_kills();
};

}  // namespace traffic::train
