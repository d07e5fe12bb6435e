/// Train connected vehicles and traffic lights together, in the same simulations.
#pragma once

#include "traffic/train/run/training.h"

namespace traffic::train {

/// As ppo, which it is for the vehicles; the lights learn as in training signals, from the same
/// episodes.
TrainingRow joint_training();

}  // namespace traffic::train
