/// Derives settings of a training from the result of a search.
#pragma once

#include <vector>

#include "search/result.h"
#include "traffic/config/config.h"

namespace traffic::train {

/// Properties of a scenario that settings depend on, beside the result of the search.
struct ScenarioFacts {
  double duration_s = 0;       ///< length of an episode
  double step_length_s = 1.0;  ///< step length of the simulation
  double speed_limit_mps = 0;  ///< mean speed limit before conflicts, weighted by vehicles; 0: not
                               ///< known
};

/// Sets env.objective and the keys that search.decides lists. If no script helps, the policy begins
/// with no control. It then sets only three kinds of keys: those for this beginning, the speed of
/// the command `slow`, and those that depend on the length of episodes.
/// @param facts one for each scenario of the result
void decide(const SearchResult& result, const std::vector<ScenarioFacts>& facts,
            config::Config& config);

}  // namespace traffic::train
