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
};

/// Sets the keys of search.decides, and env.objective. Where no script helps only what depends on
/// the length of episodes is set, and nothing is imitated.
/// @param facts of the scenarios of the result
void decide(const SearchResult& result, const std::vector<ScenarioFacts>& facts,
            config::Config& config);

}  // namespace traffic::train
