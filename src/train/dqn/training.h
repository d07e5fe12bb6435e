/// Train the controller in simulations by Q-learning from a replay.
#pragma once

#include <memory>

#include "traffic/train/run/training.h"

namespace traffic::train {

/// Goes on until training.iterations are done, evaluates on the selection seeds every
/// training.eval_interval.
TrainingRow dqn_training();

namespace dqn {
/// Collective. Starts the simulations and measures the baselines.
/// @throws WorkerError, DataError
std::unique_ptr<Training> make_dqn_training(Run& run);
}  // namespace dqn

}  // namespace traffic::train
