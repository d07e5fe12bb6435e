// LinearSchedule: a parameter that changes linearly during training.
#include "traffic/rl/schedule.h"

#include <algorithm>
#include <cmath>

namespace traffic::rl {

double LinearSchedule::at(double progress) const {
  return std::lerp(start, end, std::clamp(progress, 0.0, 1.0));
}

}  // namespace traffic::rl
