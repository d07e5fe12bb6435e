/// Derives settings of a training from the result of a search.
#pragma once

#include <vector>

#include "search/result.h"
#include "traffic/config/config.h"

namespace traffic::train {

/// Properties of a scenario that settings depend on, beside the result of the search.
struct ScenarioFacts {
  double duration_s = 0;       ///< length of an episode
  double step_length_s = 1.0;  ///< of the simulation
  double speed_limit_mps = 0;  ///< mean before conflicts, weighted by vehicles; 0: not known
};

/// Sets env.objective and the keys that search.decides lists. If no script helps, training begins
/// with no control; then only the keys for that, the speed of the command slow, and the keys that
/// depend on the length of episodes are set.
/// @param facts one for each scenario of the result
void decide(const SearchResult& result, const std::vector<ScenarioFacts>& facts,
            config::Config& config);

}  // namespace traffic::train
