/// The training `driving`, as a row of the table of trainings.
#pragma once

#include "traffic/train/run/training.h"

namespace traffic::train {

/// Imitates recorded scenes until train.epochs or train.max_steps are done, and evaluates on
/// validation scenes between epochs.
TrainingRow driving_training();

}  // namespace traffic::train
