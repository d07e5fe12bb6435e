/// Trains traffic lights.
#pragma once

#include "traffic/train/run/training.h"

namespace traffic::train {

TrainingRow signals_training();

}  // namespace traffic::train
