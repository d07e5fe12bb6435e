/// The training `snakes`: a network learns to play the game 3v3 snakes from a replay of its own
/// games.
#pragma once

#include "traffic/train/run/training.h"

namespace traffic::train {

/// The entry of this training for the table of trainings. The training ends after
/// offpolicy.max_episodes games, summed over all ranks.
TrainingRow snakes_training();

}  // namespace traffic::train
