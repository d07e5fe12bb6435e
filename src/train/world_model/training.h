/// The training of the graph encoder and the world model on recorded traffic (phase 1).
#pragma once

#include "traffic/train/run/training.h"

namespace traffic::train {

/// Trains until train.epochs or train.max_steps are done. It evaluates on the validation split
/// after every train.eval_interval_epochs epochs. At the end, it evaluates the best parameters on
/// the test split. TrainingRow::make throws a DataError if data are missing or do not fit.
TrainingRow world_model_training();

}  // namespace traffic::train
