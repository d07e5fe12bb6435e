/// How much the decisions of a scenario count where several are learned at once.
#pragma once

#include <torch/types.h>

#include <cstdint>

#include "rollouts/experience.h"
#include "traffic/comm/communicator.h"

namespace traffic::train {

/// So that an episode of each scenario counts as much as one of any other, however many decisions
/// it brings: a busy town has a hundred times as many as a ramp. The mean over all decisions is 1.
/// Collective where there are several.
/// @return [S] float32, of the decisions in each state; ones if there is but one scenario
torch::Tensor scenario_weights(const Experience& experience, std::int64_t scenarios,
                               comm::Communicator& communicator);

}  // namespace traffic::train
