/// The search before a training: runs it, stores its result, and sets the keys that follow from it.
#pragma once

#include "traffic/train/run/training.h"

namespace traffic::train {

/// Collective. If search.minutes or search.episodes asks for a search, searches, or reads the
/// result of the same search from search.json in the run folder. Then sets the keys that follow
/// from it.
/// @return kStopped if a stop was requested during the search
TrainingEnd search_and_decide(const Preparation& preparation);

/// Collective. Prepares a training of a controller of vehicles: checks the networks, searches, and
/// checks the networks again with the settings that follow.
/// @return kStopped if a stop was requested during the search
TrainingEnd look_and_search(const Preparation& preparation);

}  // namespace traffic::train
