/// The object behind the rows of training.h.
#pragma once

#include <memory>

#include "traffic/train/run/training.h"

namespace traffic::train {

/// Collective. @param constrained whether cost is kept under lagrange.cost_limit
std::unique_ptr<Training> make_ppo_training(Run& run, bool constrained);

}  // namespace traffic::train
