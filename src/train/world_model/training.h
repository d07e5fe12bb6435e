/// Pretrains the graph encoder and the world model on recorded traffic (phase 1).
#pragma once

#include "traffic/train/run/training.h"

namespace traffic::train {

/// Goes on until train.epochs or train.max_steps are done, evaluates on the validation split after
/// every epoch and, at the end, the best parameters on the test split.
/// Making it throws DataError for data that is missing or does not fit.
TrainingRow world_model_training();

}  // namespace traffic::train
