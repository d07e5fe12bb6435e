/// The search before a training, as a whole: done, kept, followed.
#pragma once

#include "traffic/train/run/training.h"

namespace traffic::train {

/// Searches if search.minutes says so, unless the run's folder has the result of the same search
/// already (search.json), and sets what follows from it.
TrainingEnd search_and_decide(const Preparation& preparation);

/// Before a training of a controller of vehicles: looks at the networks, searches, and looks again
/// at what follows from that.
TrainingEnd look_and_search(const Preparation& preparation);

}  // namespace traffic::train
