/// Weights of the decisions of each scenario when several scenarios are learned at once.
#pragma once

#include <torch/types.h>

#include <cstdint>

#include "rollouts/experience.h"
#include "traffic/comm/communicator.h"

namespace traffic::train {

/// @return [S] int64, index of the scenario of each state
torch::Tensor scenario_of_states(const Experience& experience);

// These two functions measure how much there is to learn in each state. They return [S] float64.

/// Number of decisions. A busy town has a hundred times as many as a ramp.
torch::Tensor decisions_of_states(const Experience& experience);
/// Number of decisions with a command, plus a hundredth of the number of other decisions. If a
/// script holds one vehicle in a hundred, the policy learns it mostly from these few decisions.
torch::Tensor commands_of_states(const Experience& experience);

/// Weights of the states. The sum of weight times amount over an average episode is the same in
/// every scenario. The mean of the weights, weighted by the amounts, is 1. Collective if there are
/// several scenarios.
/// @param amounts [S] float64, from one of the functions above
/// @param scenarios number of scenarios
/// @return [S] float32, weight of the decisions in each state; all 1 if there is only one scenario
torch::Tensor scenario_weights(const Experience& experience, const torch::Tensor& amounts,
                               std::int64_t scenarios, comm::Communicator& communicator);

}  // namespace traffic::train
