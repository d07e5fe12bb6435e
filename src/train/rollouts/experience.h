/// The experience of a rank in an iteration, and the advantages computed from it.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <limits>
#include <vector>

#include "policy/perception.h"
#include "policy/policy.h"
#include "traffic/rl/segments.h"

namespace traffic::train {

/// One control step of one environment, with D decisions and C conflicts (places where streams of
/// traffic meet).
struct Step {
  Observation seen;
  DecisionColumns made;
  std::vector<std::int64_t> decision_conflict;  ///< [D] conflict whose rewards a decision gets
  std::vector<float> own_cost;     ///< [D] cost charged to a decision while its command lasts
  bool selection_decides = false;  ///< there were more candidates than picks
  std::vector<float> reward;       ///< [C]
  /// Number of conflicts of the road. Conflicts from this index up to C do not exist.
  std::int64_t conflicts = std::numeric_limits<std::int64_t>::max();
  std::vector<float> cost;  ///< [C]
};

/// Stores the decisions in a step. Step::seen must be set; the caller sets decision_conflict.
void note_decisions(Step& step, const DecisionColumns& made);

/// Consecutive steps of one environment.
struct Trajectory {
  std::int64_t order = 0;     ///< index in the iteration's batch, unique over the ranks
  std::int64_t scenario = 0;  ///< index among the scenarios of the run
  std::vector<Step> steps{};
  bool terminated = false;         ///< if false, the last step bootstraps from `final_conflict`
  bool truncated = false;          ///< the episode was cut off after the last step
  torch::Tensor final_conflict{};  ///< [C, conflict] inputs of the value after the last step
};

/// The packed trajectories of a rank: S states, M candidates, D decisions, C conflicts. The widths
/// `own`, `shared` and `conflict` are those of model::ControllerInputs. The joined batch consists
/// of the states of all ranks.
struct Experience {
  torch::Tensor global_state;       ///< [S] int64: index of each state in the joined batch
  torch::Tensor own;                ///< [M, own] inputs of the candidates
  torch::Tensor shared;             ///< [S, shared] inputs of the states
  rl::Segments candidates;          ///< candidates of each state
  rl::Segments decided;             ///< decisions of each state
  torch::Tensor conflict;           ///< [S, C, conflict] inputs of the value
  torch::Tensor final_conflict;     ///< [trajectories, C, conflict] see Trajectory
  Decisions decisions;              ///< Decisions::row is a row of `own`
  torch::Tensor decision_state;     ///< [D] int64: index of the state of each decision
  torch::Tensor decision_conflict;  ///< [D] int64: conflict whose rewards each decision gets
  torch::Tensor own_cost;           ///< [D] cost charged to each decision
  torch::Tensor selection_decides;  ///< [S] bool: there were more candidates than picks
  torch::Tensor rewards;            ///< [S, C]
  torch::Tensor exists;             ///< [S, C] bool: the state's road has this conflict
  torch::Tensor costs;              ///< [S, C]
  std::vector<std::int64_t> trajectory_ptr;  ///< [trajectories + 1] first state of each
  std::vector<bool> terminated;              ///< [trajectories]
  std::vector<bool> truncated;         ///< [trajectories]; if neither is set, the episode continues
  std::vector<std::int64_t> scenario;  ///< [trajectories]

  [[nodiscard]] std::int64_t num_states() const { return rewards.size(0); }
};

/// Packs trajectories, none of which is empty.
/// @param first_state index of the first state of each trajectory in the joined batch
Experience pack(const std::vector<Trajectory>& trajectories,
                const std::vector<std::int64_t>& first_state, const model::ControllerInputs& widths,
                std::int64_t conflicts, std::int64_t top_k);

/// Values in the units of a signal (rewards or costs).
struct Expected {
  torch::Tensor states;  ///< [S, C] values of the states
  torch::Tensor final;   ///< [trajectories, C] values of the observations after the last steps
};

/// Generalised advantage estimation over each trajectory.
/// @param signal [S, C] rewards or costs
/// @return [S, C] advantages in the units of the signal
torch::Tensor advantages_of(const Experience& experience, const torch::Tensor& signal,
                            const Expected& values, double gamma, double gae_lambda);

/// Some states of an experience, with their candidates and decisions.
struct Minibatch {
  PolicyInput input;
  Decisions decisions;        ///< Decisions::row is a row of `input`
  torch::Tensor decision_of;  ///< [D'] index of each decision in the experience, on the CPU
  torch::Tensor states;       ///< [S'] index of each state in the experience, on the CPU
};
/// @param states [S'] int64, on the CPU
/// @param device device of Minibatch::input and Minibatch::decisions
Minibatch take(const Experience& experience, const torch::Tensor& states, torch::Device device);

}  // namespace traffic::train
