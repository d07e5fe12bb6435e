/// How much the decisions of a scenario count where several are learned at once.
#pragma once

#include <torch/types.h>

#include <cstdint>

#include "rollouts/experience.h"
#include "traffic/comm/communicator.h"

namespace traffic::train {

/// @return [S] int64, the scenario that each state is of
torch::Tensor scenario_of_states(const Experience& experience);

// What there is to be learned in each state: [S] float64.

/// Its decisions: a busy town has a hundred times as many as a ramp.
torch::Tensor decisions_of_states(const Experience& experience);
/// Those that command something, and a hundredth of the others: a script that holds one vehicle in
/// a hundred is learned from the few that it holds.
torch::Tensor commands_of_states(const Experience& experience);

/// So that an episode of each scenario counts as much as one of any other, however much there is to
/// be learned in it. The mean over all that is to be learned is 1.
/// Collective where there are several.
/// @return [S] float32, of the decisions in each state; ones if there is but one scenario
torch::Tensor scenario_weights(const Experience& experience, const torch::Tensor& amounts,
                               std::int64_t scenarios, comm::Communicator& communicator);

}  // namespace traffic::train
