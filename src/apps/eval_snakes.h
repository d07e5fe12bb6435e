/// The option --against of traffic_eval: plays the game 3v3 snakes instead of simulating traffic.
#pragma once

#include "eval_arguments.h"

namespace traffic::apps {

/// Plays every team of --controller against every team of --against, and prints the scores.
/// @return the exit code
int play_snakes(const EvalArguments& arguments);

}  // namespace traffic::apps
