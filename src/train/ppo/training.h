/// Train the controller in simulations by proximal policy optimisation (phase 2); with a
/// constraint, keep what its behaviour costs under a limit (phase 3).
#pragma once

#include "traffic/train/run/training.h"

namespace traffic::train {

/// Go on until training.iterations are done, evaluate on the selection seeds every
/// training.eval_interval. Making one starts the simulations and measures the baselines. It throws
/// WorkerError, DataError.
TrainingRow ppo_training();
TrainingRow ppo_constrained_training();

}  // namespace traffic::train
