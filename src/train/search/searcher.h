/// Runs scripted controllers in the simulations of a training and compares them with no control.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "rollouts/traffic_collector.h"
#include "search/result.h"
#include "search/rounds.h"
#include "search/scripts.h"
#include "traffic/comm/communicator.h"
#include "traffic/comm/mpi_session.h"
#include "traffic/core/time_split.h"
#include "traffic/rollout/traffic/traffic_pool.h"
#include "traffic/scene/score.h"

namespace traffic::train {

/// All functions are collective.
class Searcher {
 public:
  /// Starts the simulations.
  Searcher(const config::Config& config, const comm::MpiSession& session,
           comm::Communicator& communicator);
  ~Searcher();
  Searcher(const Searcher&) = delete;
  Searcher& operator=(const Searcher&) = delete;

  /// Searches. Uncontrolled runs first measure how long an episode takes and how much there is to
  /// gain. Then, for each scenario, rounds on more and more seeds select the two best scripts,
  /// which a final comparison runs on other seeds.
  /// @param scripts the scripts to try in each scenario
  /// @return nothing if the search was abandoned because of a stop request
  std::optional<SearchResult> run(const std::vector<ScriptsToTry>& scripts);

 private:
  /// A script and its episodes so far, in the order of the seeds.
  struct Entry {
    std::string controller;
    std::vector<EpisodeOutcome> outcomes{};
  };
  /// Seeds to run: `count` seeds of one scenario, from `first` on.
  struct Seeds {
    std::int64_t scenario = 0;
    std::uint64_t first = 0;
    std::int64_t count = 0;
  };

  bool look_at_traffic();
  bool halve(const ScriptsToTry& scripts, std::int64_t episodes, ScenarioSearch& search);
  bool compare(const std::vector<std::string>& finalists, ScenarioSearch& search);
  bool add_runs(const std::string& label, const Seeds& seeds, Entry& none,
                const std::vector<Entry*>& entries);
  [[nodiscard]] TriedScript judge(const Entry& entry, const Entry& none) const;
  [[nodiscard]] std::int64_t episodes_of_rounds(const std::vector<ScriptsToTry>& scripts) const;
  [[nodiscard]] std::int64_t final_episodes() const;

  config::Config config_;
  comm::Communicator& communicator_;
  TimeSplit time_split_;
  rollout::TrafficPool pool_;
  TrafficCollector collector_;
  scene::Objective objective_ = scene::Objective::kThroughput;
  SearchResult result_;
  std::vector<Entry> none_;                  ///< [scenarios] runs without control
  std::vector<double> step_lengths_s_ = {};  ///< [scenarios]
};

}  // namespace traffic::train
