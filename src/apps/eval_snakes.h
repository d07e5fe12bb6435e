/// traffic_eval --against: 3v3 snakes in place of traffic.
#pragma once

#include "eval_arguments.h"

namespace traffic::apps {

/// Every controller against every other team.
/// @return the exit code
int play_snakes(const EvalArguments& arguments);

}  // namespace traffic::apps
