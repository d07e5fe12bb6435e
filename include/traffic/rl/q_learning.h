/// Targets, action values and losses of Q-learning from one-step or n-step transitions. B is the
/// number of transitions or states of a batch.
#pragma once

#include <torch/types.h>

#include "traffic/rl/segments.h"

namespace traffic::rl {

/// Discounted rewards of a batch of transitions. Each transition has n steps, with rewards r_0 ..
/// r_(n-1).
struct NStepReturns {
  torch::Tensor returns;    ///< [B] float: sum of gamma^k r_k
  torch::Tensor discounts;  ///< [B] float: gamma^n, the factor of the next value; 0 after a
                            ///< terminal step
};

/// Targets of the action values: returns + discounts * next_values, without gradient.
/// @param next_values [B] values of the observations after the transitions
/// @throws ShapeError if shapes, types or devices disagree
/// Source: Sutton 1988, n-step returns; Mnih et al. 2016, arXiv:1602.01783, for Q-learning.
torch::Tensor n_step_targets(const NStepReturns& steps, const torch::Tensor& next_values);

/// Action values of a dueling network: V + A - mean(A), where V is the value of the state and A are
/// the advantages of the actions.
/// @param heads [B, 1 + actions]: V, then A
/// @return [B, actions]
/// Source: Wang et al. 2016, arXiv:1511.06581, eq. 9.
torch::Tensor dueling_q(const torch::Tensor& heads);

/// Values of the next observations by double Q-learning: the online network chooses the best
/// action, and the target network gives its value.
/// @param online_q, target_q [B, actions] of the next observations
/// @return [B]
/// Source: van Hasselt et al. 2016, arXiv:1509.06461.
torch::Tensor double_q_values(const torch::Tensor& online_q, const torch::Tensor& target_q);

/// Values of the actions taken.
/// @param q [B, actions]
/// @param actions [B] int64
/// @return [B]
torch::Tensor values_of(const torch::Tensor& q, const torch::Tensor& actions);

/// N choices made together in B states, such as the commands of several vehicles.
struct JointChoices {
  torch::Tensor advantages;  ///< [N, actions] advantages A of a dueling network
  torch::Tensor actions;     ///< [N] int64: the chosen action
  torch::Tensor state;       ///< [N] int64: index of the state in which the choice was made
};

/// Value of all choices of a state together: V + sum over its choices of (A - mean(A)). With one
/// choice per state it equals the value by dueling_q().
/// @param values [B] value V of each state
/// @return [B]
/// Source: Sunehag et al. 2018, arXiv:1706.05296, for the sum over agents.
torch::Tensor joint_q(const torch::Tensor& values, const JointChoices& choices);

/// Value of the chosen action of each state, if the number of actions differs from state to state.
/// It is V + A - mean(A), where A is the advantage of the chosen action and mean(A) the mean over
/// the state's actions.
/// @param values [B] value V of each state
/// @param advantages [M] advantages A of all actions of all states, state by state
/// @param states which rows of `advantages` belong to each state
/// @param rows [B] int64: the row of the chosen action in `advantages`
/// @return [B]
torch::Tensor segment_q(const torch::Tensor& values, const torch::Tensor& advantages,
                        const Segments& states, const torch::Tensor& rows);

/// Huber loss (threshold 1) of the action values.
/// @param values [B] values of the actions taken, differentiated
/// @param targets [B]
/// @param denominator number of transitions on all ranks, by which the sum is divided
/// @return scalar
torch::Tensor value_loss(const torch::Tensor& values, const torch::Tensor& targets,
                         double denominator);

}  // namespace traffic::rl
