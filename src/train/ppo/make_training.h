/// The object behind the rows of training.h.
#pragma once

#include <memory>

#include "ppo/trained_lights.h"
#include "traffic/train/run/training.h"

namespace traffic::train {

/// What is beside the controller of vehicles.
struct PpoExtras {
  bool constrained = false;  ///< whether cost is kept under lagrange.cost_limit
  std::unique_ptr<TrainedLights> lights = nullptr;  ///< null: lights do not learn
};

/// Collective.
std::unique_ptr<Training> make_ppo_training(Run& run, PpoExtras extras = {});

}  // namespace traffic::train
