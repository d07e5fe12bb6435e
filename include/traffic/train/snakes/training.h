/// Learns to play 3v3 snakes from a replay of its own games.
#pragma once

#include "traffic/train/run/training.h"

namespace traffic::train {

/// Go on until offpolicy.max_episodes of all ranks are over.
TrainingRow snakes_training();

}  // namespace traffic::train
