/// The row of the training `driving`.
#pragma once

#include "traffic/train/run/training.h"

namespace traffic::train {

TrainingRow driving_training();

}  // namespace traffic::train
