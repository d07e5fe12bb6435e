/// Runs scripted controllers (scripts) in the simulations of a search and compares them with no
/// control. The search looks for the script with the largest gain; Searcher uses this file.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "rollouts/traffic_collector.h"
#include "run/course.h"
#include "search/budget.h"
#include "search/pieces.h"
#include "search/result.h"
#include "traffic/comm/communicator.h"
#include "traffic/comm/mpi_session.h"
#include "traffic/config/config.h"
#include "traffic/core/time_split.h"
#include "traffic/rollout/traffic/traffic_pool.h"
#include "traffic/scene/score.h"

namespace traffic::train {

/// A script and the outcomes of its episodes so far, in the order of the seeds.
struct ScriptRun {
  std::string controller;
  std::vector<EpisodeOutcome> outcomes{};
};

/// A range of seeds of one scenario: first, first + 1, ..., first + count - 1.
struct SeedRange {
  std::int64_t scenario = 0;  ///< index among the scenarios of the run
  std::uint64_t first = 0;
  std::int64_t count = 0;
};

/// The first uncontrolled runs of a scenario, from which the search learns how long episodes take.
struct Look {
  SeedRange seeds{};
  EpisodeMarks marks{};
  double step_length_s = 1.0;  ///< step length of the scenario's simulation
  ScriptRun* none = nullptr;   ///< receives the outcomes of the runs
  /// The watched runs in the order of the seeds. Until the runs have ended, each rank knows only
  /// its own runs.
  std::vector<WatchedRun> watched{};
};

/// Owns the simulations of a search and runs scripts in them. All functions that run episodes are
/// collective.
class ScriptRuns {
 public:
  /// Starts the simulations.
  /// @param session, communicator, budget must outlive this object
  ScriptRuns(const config::Config& config, const comm::MpiSession& session,
             comm::Communicator& communicator, SearchBudget& budget);

  /// Ends the simulations with their running episodes, and starts new ones.
  void restart();
  /// Like restart(). All further episodes then run the whole scenario and save the traffic in which
  /// its pieces begin. If traffic cannot be saved (episodes.baseline_cache is empty, or another
  /// controller acts beside the agents), they end after the first piece. Collective.
  /// @param piece_s simulated time of a piece
  void save_pieces(double piece_s);
  /// Like restart(). All further episodes then are pieces in the traffic that was saved. The seed
  /// of an episode determines which piece it runs. Collective.
  /// @param counts [scenarios] the number of pieces to choose from, at least 1
  void run_pieces(std::vector<std::int64_t> counts);
  /// Whether save_pieces() can save traffic.
  [[nodiscard]] bool can_save() const;

  enum class End : std::uint8_t { kDone, kTimeIsOver, kStopRequested };
  /// Runs the seeds of all looks without control and watches the runs. If `gives_up` returns true
  /// on a rank before all runs have ended, the score of each run at that time counts as its
  /// outcome, and the result is kTimeIsOver.
  /// @param gives_up called on each rank whenever a simulation has answered
  End look(const std::vector<Look*>& looks, const std::function<bool()>& gives_up);
  /// Runs the scripts on these seeds. For seeds without an outcome in `none`, it also simulates the
  /// traffic without control. If search.minutes limits the search, it leaves out seeds that would
  /// end after the share `until_share` of this time. The first `at_least` seeds always run.
  /// @param label label of the progress line
  /// @return kTimeIsOver if the search has taken much longer than its time, and the scripts have
  ///   not run on `at_least` seeds
  End run(const std::string& label, const SeedRange& seeds, std::int64_t at_least,
          double until_share, ScriptRun& none, const std::vector<ScriptRun*>& scripts);

  /// Compares a script with no control.
  /// @param none must have run on all seeds of the script, in the same order
  [[nodiscard]] TriedScript compare(const ScriptRun& script, const ScriptRun& none,
                                    const scene::Objective& objective, double step_length_s) const;

  [[nodiscard]] int num_envs() const { return pool_->num_envs(); }
  /// Number of simulations that the CPUs of all nodes can run at the same time. Collective.
  [[nodiscard]] int num_parallel() const;
  /// Number of episodes of all ranks so far.
  [[nodiscard]] std::int64_t episodes() const { return episodes_; }
  /// Ends the simulations, and removes the saved traffic from the disk. Collective.
  void close();

 private:
  class Requests;
  class LookClock;
  void start();
  [[nodiscard]] rollout::EpisodeSeed traffic_of(const SeedRange& seeds, std::int64_t seed) const;
  using OnPeriod = std::function<void(std::size_t request, const rollout::Period& period)>;
  bool execute(const std::string& label, const rollout::Collector::Stop& gives_up,
               Requests& requests, const OnPeriod& on_period = {});
  void share(WatchedRun& run) const;
  End run_seeds(const std::string& label, const SeedRange& seeds, ScriptRun& none,
                const std::vector<ScriptRun*>& scripts);

  config::Config config_;
  const comm::MpiSession& session_;
  comm::Communicator& communicator_;
  SearchBudget& budget_;
  TimeSplit time_split_;
  std::optional<rollout::TrafficPool> pool_;
  std::optional<TrafficCollector> collector_;
  std::vector<rollout::PieceStore> stores_;  ///< [scenarios] empty if episodes are whole
  std::vector<std::int64_t> num_pieces_;     ///< [scenarios] empty before run_pieces()
  std::int64_t episodes_ = 0;
};

}  // namespace traffic::train
