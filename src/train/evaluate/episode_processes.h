/// Runs the episodes of an evaluation, each in a process of its own.
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

/// A report of an episode's process.
struct EpisodeReport {
  enum class Kind : std::int32_t { kRunning, kMark, kDone, kFailed };
  Kind kind = Kind::kRunning;
  std::int32_t exit_code = 0;
  std::size_t task = 0;
  double share = 0;               ///< share of the episode that is done
  std::int64_t mark = 0;          ///< kMark: number k of the mark, reached after k * mark_s, from 0
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
  /// @return the episode's task: index of the controller * number of seeds of the plan + index of
  ///     the seed; nothing: start none for now
  using NextTask = std::function<std::optional<std::size_t>()>;

  /// Starts no process yet.
  /// @param plan must outlive this object
  /// @param mark_s simulated time between two reports of kind kMark, the first of which comes at
  ///   the start of the episode; 0: no such reports
  EpisodeProcesses(const EvaluationPlan& plan, NextTask next_task, double mark_s = 0.0);

  /// Waits until an episode reaches a mark or ends.
  /// @param goes_on called about once a second meanwhile; false ends the wait
  /// @return a report of kind kMark or kDone; nothing if goes_on returned false, or if no process
  ///     runs and none is to be started
  /// @throws Error that names the episode. Its exit code is that of the error that the episode
  ///     reported, or ExitCode::kWorkers if the episode's process died or fell silent twice
  /// @throws ResourceError if a process cannot be started
  std::optional<EpisodeReport> next(const std::function<bool()>& goes_on);

  /// Ends an episode early. It sends no more reports.
  void end(std::size_t task);

  /// Sum over the running episodes of the share that is done.
  [[nodiscard]] double running_share() const;

 private:
  struct Process {
    std::size_t task = 0;
    double share = 0.0;     ///< share of the episode that is done
    Stopwatch silent = {};  ///< time since the last report
    bool reported = false;  ///< it has sent the episode's result or its error, or was ended early
    bool killed = false;
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
  std::set<std::size_t> retried_;              ///< tasks whose episodes have been started once more
  double last_interval_s_ = steady_seconds();  ///< time of the last call of goes_on
  std::int64_t oom_kills_before_ = num_oom_kills();
};

}  // namespace traffic::train
