/// The training `snakes`: learns to play 3v3 snakes from a replay of its own games.
#pragma once

#include "traffic/train/run/training.h"

namespace traffic::train {

/// The row of the training. It ends after offpolicy.max_episodes games, summed over all ranks.
TrainingRow snakes_training();

}  // namespace traffic::train
