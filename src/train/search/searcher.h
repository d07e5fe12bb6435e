/// The search before a training: finds the scripted controller that gains most in the scenarios of
/// the training.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "search/budget.h"
#include "search/result.h"
#include "search/rounds.h"
#include "search/script_runs.h"
#include "search/scripts.h"
#include "traffic/comm/communicator.h"
#include "traffic/comm/mpi_session.h"
#include "traffic/scene/score.h"

namespace traffic::train {

/// Runs one search. All public functions are collective.
class Searcher {
 public:
  /// Starts the simulations and the clock.
  Searcher(const config::Config& config, const comm::MpiSession& session,
           comm::Communicator& communicator);
  ~Searcher();
  Searcher(const Searcher&) = delete;
  Searcher& operator=(const Searcher&) = delete;

  /// Runs the search. Uncontrolled runs first show how long an episode takes, and whether the
  /// traffic is saturated, which decides about the objective. If too few whole episodes fit into
  /// search.minutes, all further episodes are pieces (pieces.h). Then the search of each scenario
  /// has these parts:
  ///
  /// 1. Rounds run fewer and fewer scripts on more and more seeds.
  /// 2. The best two scripts are compared with no control on fresh seeds; if the time is short,
  ///    only the best one.
  /// 3. If the script that gains most is unsafe, milder versions of it are tried.
  ///
  /// @param scripts [scenarios] the scripts to try in each scenario
  /// @return nothing if the search was abandoned because a stop was requested
  std::optional<SearchResult> run(const std::vector<ScriptsToTry>& scripts);

 private:
  using End = ScriptRuns::End;

  /// The search of one scenario.
  struct Place {
    ScenarioSearch& search;
    const ScriptsToTry& scripts;
    ScriptRun none{.controller = "none"};  ///< uncontrolled runs on the seeds of the rounds
    std::int64_t scenario = 0;
    std::int64_t round_seeds = 0;  ///< number of seeds that the rounds have used
    std::int64_t final_seeds = 0;  ///< number of seeds that final comparisons have used
    Look look{};                   ///< the first uncontrolled runs
    double episode_s = 0;          ///< estimated real time per piece; 0 if episodes are whole
    // Shares of the budget at which the parts of this search end.
    double rounds_end = 1.0;
    double final_end = 1.0;
    double end = 1.0;
  };

  End look_at_traffic(std::vector<Place>& places);
  End look(std::vector<Place>& places, std::int64_t seeds, const std::function<bool()>& gives_up);
  static void note_saturation(std::vector<Place>& places);
  [[nodiscard]] bool shows_pieces(const std::vector<Place>& places) const;
  [[nodiscard]] static bool have_reached(const Place& place, std::int64_t mark);
  [[nodiscard]] std::int64_t piece_length(const Place& place, double left_s) const;
  [[nodiscard]] double piece_s(const std::vector<Place>& places) const;
  End look_at_pieces(double piece_s, std::vector<Place>& places);
  void warn_of_short_time(const Place& place) const;
  void choose_objective(const std::vector<Place>& places);
  void share_time(std::size_t places_left, Place& place) const;
  End search(Place& place);
  [[nodiscard]] std::vector<Round> rounds_of(const Place& place) const;
  void warn_of_few_scripts(const std::vector<Round>& rounds, const Place& place) const;
  End run_rounds(const std::vector<Round>& rounds, Place& place,
                 std::vector<std::string>& finalists);
  void sort_by_gain(const Place& place, std::vector<ScriptRun*>& runs) const;
  End run_two_seeds(const std::string& label, const SeedRange& seeds, double until_share,
                    Place& place, std::vector<ScriptRun*>& alive);
  End compare_finalists(const std::vector<std::string>& finalists, double until_share,
                        Place& place);
  [[nodiscard]] const TriedScript& preferred(const std::vector<ScriptRun>& runs,
                                             const ScriptRun& none,
                                             const std::vector<TriedScript>& results) const;
  End make_safe(Place& place);
  [[nodiscard]] TriedScript compared(const ScriptRun& run, const ScriptRun& none,
                                     const Place& place) const;
  [[nodiscard]] std::int64_t episodes_of_final() const;

  config::Config config_;
  SearchBudget budget_;
  ScriptRuns runs_;
  int parallel_ = 1;  ///< number of the first uncontrolled runs that run at the same time
  /// Estimated real time of a whole episode. It is set only if the search compares pieces;
  /// otherwise 0.
  double whole_episode_s_ = 0;
  scene::Objective objective_ = scene::Objective::kThroughput;
  SearchResult result_;
};

}  // namespace traffic::train
