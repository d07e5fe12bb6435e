/// The trainings of controllers in simulations of traffic.
#pragma once

#include "traffic/train/run/training.h"

namespace traffic::train {

/// Vehicles, traffic lights or both (env.agents) by proximal policy optimisation: phase 2.
TrainingRow ppo_training();
/// Vehicles by PPO under a limit on what their behaviour costs: phase 3.
TrainingRow ppo_constrained_training();
/// Vehicles or traffic lights by double Q-learning from a replay.
TrainingRow dqn_training();

}  // namespace traffic::train
