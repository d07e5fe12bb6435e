/// From what a search has found to settings.
#pragma once

#include <vector>

#include "search/result.h"
#include "traffic/config/config.h"

namespace traffic::train {

/// What is to be known of a scenario beside what was found in it.
struct ScenarioFacts {
  double duration_s = 0;
  double step_length_s = 1.0;
  double speed_limit_mps = 0;  ///< before conflicts, as their vehicles meet it; 0: not known
};

/// Sets the keys of search.decides, and env.objective. Where no script helps training begins with
/// no control, and only that, the speed of slow and what depends on the length of episodes are set.
/// @param facts of the scenarios of the result
void decide(const SearchResult& result, const std::vector<ScenarioFacts>& facts,
            config::Config& config);

}  // namespace traffic::train
