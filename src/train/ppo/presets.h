/// What the presets set for the two trainings of the controller.
#pragma once

#include <vector>

#include "traffic/config/trainings.h"

namespace traffic::train {

std::vector<config::PresetRow> ppo_presets();
/// Those of ppo, and what the constraint needs.
std::vector<config::PresetRow> ppo_constrained_presets();

}  // namespace traffic::train
