/// Computes weights of decisions if a training has several scenarios, so that every scenario has
/// the same influence on the policy.
#pragma once

#include <torch/types.h>

#include <cstdint>

#include "rollouts/experience.h"
#include "traffic/comm/communicator.h"

namespace traffic::train {

/// @return [S] int64, index of the scenario of each state
torch::Tensor scenario_of_states(const Experience& experience);

// decisions_of_states() and commands_of_states() measure how much can be learned in each state.
// They return [S] float64.

/// The number of decisions in each state. A scenario of a busy town has a hundred times as many
/// decisions as a scenario of a ramp.
torch::Tensor decisions_of_states(const Experience& experience);
/// The number of decisions with a command, plus a hundredth of the number of other decisions. If a
/// script holds one vehicle in a hundred, the policy learns the script mostly from these few
/// decisions.
torch::Tensor commands_of_states(const Experience& experience);

/// Weights of the states. The sum of weight times amount over an average episode is the same in
/// every scenario. The mean of the weights, weighted by the amounts, is 1. Collective if there are
/// several scenarios.
/// @param amounts [S] float64, from decisions_of_states() or commands_of_states()
/// @param scenarios number of scenarios
/// @return [S] float32, weight of the decisions in each state; all 1 if there is only one scenario
torch::Tensor scenario_weights(const Experience& experience, const torch::Tensor& amounts,
                               std::int64_t scenarios, comm::Communicator& communicator);

}  // namespace traffic::train
