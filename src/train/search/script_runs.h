/// Runs scripted controllers in the simulations of a search and compares them with no control.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "rollouts/traffic_collector.h"
#include "search/budget.h"
#include "search/result.h"
#include "traffic/comm/communicator.h"
#include "traffic/comm/mpi_session.h"
#include "traffic/config/config.h"
#include "traffic/core/time_split.h"
#include "traffic/rollout/traffic/traffic_pool.h"
#include "traffic/scene/score.h"

namespace traffic::train {

/// A script and its episodes so far, in the order of the seeds.
struct ScriptRun {
  std::string controller;
  std::vector<EpisodeOutcome> outcomes{};
};

/// Seeds first .. first + count - 1 of one scenario.
struct SeedRange {
  std::int64_t scenario = 0;
  std::uint64_t first = 0;
  std::int64_t count = 0;
};

/// All functions that run episodes are collective.
class ScriptRuns {
 public:
  /// Starts the simulations.
  /// @param session, communicator, budget must outlive this object
  ScriptRuns(const config::Config& config, const comm::MpiSession& session,
             comm::Communicator& communicator, SearchBudget& budget);

  enum class End : std::uint8_t { kDone, kTimeIsOver, kStopRequested };
  /// Runs the seeds without control. If the share `until_share` of the budget passes before all
  /// runs end, each run yields the score that it has at that time.
  End look(const SeedRange& seeds, double until_share, ScriptRun& none);
  /// Runs the scripts on these seeds, and no control on those where it has not run yet. If the
  /// clock limits the search, it leaves out seeds that would end after the share `until_share` of
  /// the budget, except for the first two seeds.
  /// @param label label of the progress line
  /// @return kDone or kStopRequested
  End run(const std::string& label, const SeedRange& seeds, double until_share, ScriptRun& none,
          const std::vector<ScriptRun*>& scripts);

  /// Compares a script with no control.
  /// @param none must have run on all seeds of the script, in the same order
  [[nodiscard]] TriedScript compare(const ScriptRun& script, const ScriptRun& none,
                                    scene::Objective objective, double step_length_s) const;

  [[nodiscard]] int num_envs() const { return pool_.num_envs(); }
  /// Episodes of all ranks so far.
  [[nodiscard]] std::int64_t episodes() const { return episodes_; }
  /// Ends the simulations.
  void close() { pool_.close(); }

 private:
  class Requests;
  bool execute(const std::string& label, const rollout::Collector::Stop& gives_up,
               Requests& requests);
  End run_seeds(const std::string& label, const SeedRange& seeds, ScriptRun& none,
                const std::vector<ScriptRun*>& scripts);

  config::Config config_;
  comm::Communicator& communicator_;
  SearchBudget& budget_;
  TimeSplit time_split_;
  rollout::TrafficPool pool_;
  TrafficCollector collector_;
  std::int64_t episodes_ = 0;
};

}  // namespace traffic::train
