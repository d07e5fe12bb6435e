/// Games by which the best parameters are picked while training: the same starts each time.
#pragma once

#include <cstdint>
#include <vector>

#include "offpolicy/acting.h"
#include "snakes/observation.h"
#include "traffic/comm/communicator.h"
#include "traffic/report/metrics.h"

namespace traffic::train::snakes {

struct SelectionPlan {
  std::uint64_t seed = 0;  ///< of the run
  Sight sight;
  std::int64_t games = 0;  ///< against each opponent, half from either side
};

/// The same on all ranks.
struct SelectionScores {
  std::vector<double> of_starts;  ///< wins in %, mean over opponents and sides
  report::NamedValues figures;    ///< "eval/win_percent_greedy", ...
};

/// Collective: ranks share the starts.
SelectionScores play_selection_games(const offpolicy::ActingNetwork& acting,
                                     const SelectionPlan& plan, comm::Communicator& communicator);

}  // namespace traffic::train::snakes
