/// The table of all trainings of traffic_train. To add one, write its folder and add its row in
/// src/train/trainings.cpp.
#pragma once

#include <vector>

#include "traffic/train/run/training.h"

namespace traffic::train {

const std::vector<TrainingRow>& shipped_trainings();

}  // namespace traffic::train
