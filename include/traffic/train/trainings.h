/// The table of the trainings that this program knows. A new one is a folder and a row here.
#pragma once

#include <vector>

#include "traffic/train/run/training.h"

namespace traffic::train {

const std::vector<TrainingRow>& shipped_trainings();

}  // namespace traffic::train
