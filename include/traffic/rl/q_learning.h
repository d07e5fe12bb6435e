/// Q-learning from transitions over one or several steps: targets and losses.
#pragma once

#include <torch/types.h>

#include "traffic/rl/segments.h"

namespace traffic::rl {

/// What a batch of transitions brought up to their next observation.
struct NStepReturns {
  torch::Tensor returns;    ///< [B] float: sum of gamma^k r_k
  torch::Tensor discounts;  ///< [B] float: gamma^n of the value there; 0 after an end
};

/// returns + discounts * next_values, without gradient.
/// @param next_values [B]
/// @throws ShapeError
/// Source: Sutton 1988, n-step returns; Mnih et al. 2016, arXiv:1602.01783, for Q-learning.
torch::Tensor n_step_targets(const NStepReturns& steps, const torch::Tensor& next_values);

/// Value and advantages of a network with two heads as values of actions: V + A - mean(A).
/// @param heads [B, 1 + actions] the value first
/// @return [B, actions]
/// Source: Wang et al. 2016, arXiv:1511.06581, eq. 9.
torch::Tensor dueling_q(const torch::Tensor& heads);

/// Of the next observations: the target network's value of the online network's best action.
/// @param online_q [B, actions] of the next observations, as target_q
/// @return [B]
/// Source: van Hasselt et al. 2016, arXiv:1509.06461.
torch::Tensor double_q_values(const torch::Tensor& online_q, const torch::Tensor& target_q);

/// Values of the actions that were taken.
/// @param q [B, actions]
/// @param actions [B] int64
/// @return [B]
torch::Tensor values_of(const torch::Tensor& q, const torch::Tensor& actions);

/// Choices that are made together, N of them in B states.
struct JointChoices {
  torch::Tensor advantages;  ///< [N, actions] of a dueling network
  torch::Tensor actions;     ///< [N] int64: what is chosen
  torch::Tensor state;       ///< [N] int64: in which state
};

/// Value of all choices of a state together: V + sum of (A - mean(A)); with one choice in each that
/// is what dueling_q gives.
/// @param values [B] of the states
/// @return [B]
/// Source: Sunehag et al. 2018, arXiv:1706.05296, for the sum over agents.
torch::Tensor joint_q(const torch::Tensor& values, const JointChoices& choices);

/// The same of states with a choice each, among actions whose number differs from state to state:
/// V + A of the chosen one - mean(A) over the state's.
/// @param values [B] of the states
/// @param advantages [M] of their actions
/// @param rows [B] int64: which of these is chosen
/// @return [B]
torch::Tensor segment_q(const torch::Tensor& values, const torch::Tensor& advantages,
                        const Segments& states, const torch::Tensor& rows);

/// Huber loss (threshold 1).
/// @param values [B] of what was done, differentiated
/// @param targets [B]
/// @param denominator what the sum is divided by: transitions of all ranks
/// @return scalar
torch::Tensor value_loss(const torch::Tensor& values, const torch::Tensor& targets,
                         double denominator);

}  // namespace traffic::rl
