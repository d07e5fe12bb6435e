/// traffic_eval --against: 3v3 snakes in place of traffic.
#pragma once

#include "eval_arguments.h"

namespace traffic::apps {

/// Plays every --controller against every team of --against.
/// @return the exit code
int play_snakes(const EvalArguments& arguments);

}  // namespace traffic::apps
