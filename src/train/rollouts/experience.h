/// What a rank has lived through in an iteration, and the advantages that follow from it.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <limits>
#include <vector>

#include "policy/perception.h"
#include "policy/policy.h"
#include "traffic/rl/segments.h"

namespace traffic::train {

/// One control step of one environment.
struct Step {
  Observation seen;
  DecisionColumns made;
  std::vector<std::int64_t> decision_conflict;  ///< [D]
  std::vector<float> own_cost;                  ///< [D] grows while a command lasts
  bool selection_decides = false;               ///< more candidates than could be picked
  std::vector<float> reward;                    ///< [C]
  /// Conflicts of its road, where they are fewer than C; the others do not exist.
  std::int64_t conflicts = std::numeric_limits<std::int64_t>::max();
  std::vector<float> cost;  ///< [C]
};

/// Notes what was decided on what the step has seen; whose conflicts they concern is left to the
/// caller.
void note_decisions(Step& step, const DecisionColumns& made);

/// Consecutive steps of one environment.
struct Trajectory {
  std::int64_t order = 0;     ///< place in the iteration's batch, unique over the ranks
  std::int64_t scenario = 0;  ///< place among those of the run
  std::vector<Step> steps{};
  bool terminated = false;         ///< else its last step bootstraps from `final_conflict`
  bool truncated = false;          ///< its episode was cut off after the last step
  torch::Tensor final_conflict{};  ///< [C, conflict] of the observation after the last step
};

/// The trajectories of a rank, packed: S states, M candidates, D decisions, C conflicts.
struct Experience {
  torch::Tensor global_state;       ///< [S] int64: number of each state in the joined batch
  torch::Tensor own;                ///< [M, own]
  torch::Tensor shared;             ///< [S, shared]
  rl::Segments candidates;          ///< of each state
  rl::Segments decided;             ///< decisions of each state
  torch::Tensor conflict;           ///< [S, C, conflict]
  torch::Tensor final_conflict;     ///< [trajectories, C, conflict]
  Decisions decisions;              ///< rows are those of `own`
  torch::Tensor decision_state;     ///< [D]
  torch::Tensor decision_conflict;  ///< [D]
  torch::Tensor own_cost;           ///< [D]
  torch::Tensor selection_decides;  ///< [S] bool
  torch::Tensor rewards;            ///< [S, C]
  torch::Tensor exists;             ///< [S, C] bool: the state's road has this conflict
  torch::Tensor costs;              ///< [S, C]
  std::vector<std::int64_t> trajectory_ptr;  ///< [trajectories + 1]
  std::vector<bool> terminated;              ///< [trajectories]
  std::vector<bool> truncated;               ///< [trajectories]; if neither, the episode goes on
  std::vector<std::int64_t> scenario;        ///< [trajectories]

  [[nodiscard]] std::int64_t num_states() const { return rewards.size(0); }
};

/// @param first_state of each trajectory in the joined batch
Experience pack(const std::vector<Trajectory>& trajectories,
                const std::vector<std::int64_t>& first_state, const model::ControllerInputs& widths,
                std::int64_t conflicts, std::int64_t top_k);

/// What is expected of the states, in units of a signal.
struct Expected {
  torch::Tensor states;  ///< [S, C]
  torch::Tensor final;   ///< [trajectories, C] of the observations after their last steps
};

/// @param signal [S, C] rewards or costs
/// @return [S, C]
torch::Tensor advantages_of(const Experience& experience, const torch::Tensor& signal,
                            const Expected& values, double gamma, double gae_lambda);

/// Some states of an experience, with everything that belongs to them.
struct Minibatch {
  PolicyInput input;
  Decisions decisions;        ///< rows are those of `input`
  torch::Tensor decision_of;  ///< [D'] which decisions of the experience
  torch::Tensor states;       ///< [S'] which states of it
};
Minibatch take(const Experience& experience, const torch::Tensor& states, torch::Device device);

}  // namespace traffic::train
