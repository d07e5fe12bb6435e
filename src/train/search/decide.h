/// Derives settings of a training from the result of the search for scripts that ran before it.
#pragma once

#include <vector>

#include "search/result.h"
#include "traffic/config/config.h"

namespace traffic::train {

/// Properties of a scenario on which the settings depend in addition to the result of the search.
struct ScenarioFacts {
  double duration_s = 0;       ///< length of an episode
  double step_length_s = 1.0;  ///< step length of the simulation
  /// Mean speed limit of the roads that lead to conflicts, weighted by the numbers of their
  /// vehicles; 0 if it is not known.
  double speed_limit_mps = 0;
};

/// Sets env.objective and those keys that search.decides lists. If a script helps, the keys are set
/// so that the policy begins as this script. If no script helps, the policy begins with almost no
/// commands, or, for traffic lights alone, as the lights' own programs. Fewer keys are set then;
/// for example env.zone_m and vehicles.commands keep their values.
/// @param facts one for each scenario of the result
void decide(const SearchResult& result, const std::vector<ScenarioFacts>& facts,
            config::Config& config);

}  // namespace traffic::train
