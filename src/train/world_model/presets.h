/// Values of the presets for the training of the world model.
#pragma once

#include <vector>

#include "traffic/config/trainings.h"

namespace traffic::train {

std::vector<config::PresetRow> world_model_presets();

}  // namespace traffic::train
