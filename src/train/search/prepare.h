/// Runs the search for scripts before a training, stores its result, and sets the configuration
/// keys that follow from it.
#pragma once

#include "traffic/train/run/training.h"

namespace traffic::train {

/// Collective. Does nothing if search.minutes and search.episodes are 0. Otherwise it runs the
/// search, or reads the result of the same search from search.json in the run folder. Then it sets
/// the keys that follow from the result.
/// @return kStopped if a stop was requested during the search
TrainingEnd search_and_decide(const Preparation& preparation);

/// Collective. Prepares a training with simulations: checks the networks of its scenarios, runs
/// search_and_decide(), and checks the networks again with the new settings.
/// @return kStopped if a stop was requested during the search
TrainingEnd look_and_search(const Preparation& preparation);

}  // namespace traffic::train
