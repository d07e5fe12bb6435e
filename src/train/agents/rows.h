/// The trainings of controllers in simulations of traffic, as rows of the table of trainings.
#pragma once

#include "traffic/train/run/training.h"

namespace traffic::train {

/// Phase 2: vehicles, traffic lights or both (env.agents) learn by proximal policy optimisation.
TrainingRow ppo_training();
/// Phase 3: vehicles learn by PPO under a limit on the cost of unsafe behaviour.
TrainingRow ppo_constrained_training();
/// Vehicles or traffic lights learn by double Q-learning from a replay.
TrainingRow dqn_training();

}  // namespace traffic::train
