/// The units in which trainings in simulations of traffic count.
#pragma once

#include "traffic/train/run/training.h"

namespace traffic::train {

inline TrainingUnits units_of_rollouts() {
  return {.step = "iteration",
          .items = "env steps",
          .rate = "env_steps_per_s",
          .duration = "iteration_s",
          .long_steps = true};
}

}  // namespace traffic::train
