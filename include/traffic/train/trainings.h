/// The table of all trainings of the program traffic_train. To add a training, write its folder and
/// add its row in src/train/trainings.cpp.
#pragma once

#include <vector>

#include "traffic/train/run/training.h"

namespace traffic::train {

const std::vector<TrainingRow>& shipped_trainings();

}  // namespace traffic::train
