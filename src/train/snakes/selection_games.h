/// Plays the games by whose results the training selects its best parameters. These games have the
/// same starts each time.
#pragma once

#include <cstdint>
#include <vector>

#include "offpolicy/acting.h"
#include "snakes/observation.h"
#include "traffic/comm/communicator.h"
#include "traffic/report/metrics.h"

namespace traffic::train::snakes {

/// The games to play.
struct SelectionPlan {
  std::uint64_t seed = 0;  ///< seed of the run
  Sight sight;
  std::int64_t games = 0;  ///< number of games against each opponent, half of them on each side
};

/// Scores of the policy; the same on all ranks.
struct SelectionScores {
  /// [games / 2] share of wins from each start in %, mean over opponents and sides.
  std::vector<double> of_starts;
  report::NamedValues figures;  ///< "eval/win_percent_greedy", ...
};

/// Collective. Lets the policy play against the scripts greedy and bfs. Each rank plays a part of
/// the starts.
SelectionScores play_selection_games(const offpolicy::ActingNetwork& acting,
                                     const SelectionPlan& plan, comm::Communicator& communicator);

}  // namespace traffic::train::snakes
