/// The experience of the vehicles that a rank collects in an iteration: observations, decisions,
/// rewards and costs. PPO and Q-learning read it packed in tensors. Also computes advantages from
/// it.
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
  /// [D] index of the conflict whose rewards count for each decision.
  std::vector<std::int64_t> decision_conflict;
  std::vector<float> own_cost;     ///< [D] cost charged to each decision while its command lasts
  bool selection_decides = false;  ///< there were more candidates than picks
  std::vector<float> reward;       ///< [C] reward of the step in each conflict
  /// Number of conflicts of the road. It may be less than C, which is the largest number in any
  /// scenario of the run.
  std::int64_t conflicts = std::numeric_limits<std::int64_t>::max();
  std::vector<float> cost;  ///< [C] cost of the step in each conflict
};

/// Stores the decisions in a step. Step::seen must be set; the caller sets decision_conflict.
void note_decisions(Step& step, const DecisionColumns& made);

/// Consecutive steps of one environment.
struct Trajectory {
  std::int64_t order = 0;     ///< index in the iteration's batch, unique over the ranks
  std::int64_t scenario = 0;  ///< index among the scenarios of the run
  std::vector<Step> steps{};
  /// Whether the episode ended by itself; if not, the value of `final_conflict` stands for the
  /// rewards after the last step.
  bool terminated = false;
  bool truncated = false;  ///< the episode was cut off after the last step
  /// [C, conflict] inputs of the value network after the last step.
  torch::Tensor final_conflict{};
};

/// The packed trajectories of a rank: S states, M candidates, D decisions, C conflicts. The widths
/// `own`, `shared` and `conflict` are those of model::ControllerInputs. The joined batch consists
/// of the states of all ranks.
struct Experience {
  torch::Tensor global_state;    ///< [S] int64: index of each state in the joined batch
  torch::Tensor own;             ///< [M, own] policy inputs of each candidate
  torch::Tensor shared;          ///< [S, shared] policy inputs that all candidates of a state share
  rl::Segments candidates;       ///< candidates of each state
  rl::Segments decided;          ///< decisions of each state
  torch::Tensor conflict;        ///< [S, C, conflict] inputs of the value network
  torch::Tensor final_conflict;  ///< [trajectories, C, conflict] see Trajectory
  Decisions decisions;           ///< Decisions::row is a row of `own`
  torch::Tensor decision_state;  ///< [D] int64: index of the state of each decision
  torch::Tensor decision_conflict;  ///< [D] int64: conflict whose rewards each decision gets
  torch::Tensor own_cost;           ///< [D] cost charged to each decision
  torch::Tensor selection_decides;  ///< [S] bool: there were more candidates than picks
  torch::Tensor rewards;            ///< [S, C]
  torch::Tensor exists;             ///< [S, C] bool: the state's road has this conflict
  torch::Tensor costs;              ///< [S, C]
  std::vector<std::int64_t> trajectory_ptr;  ///< [trajectories + 1] first state of each trajectory
  std::vector<bool> terminated;              ///< [trajectories] see Trajectory
  /// [trajectories]; if a trajectory is neither terminated nor truncated, its episode continues.
  std::vector<bool> truncated;
  std::vector<std::int64_t> scenario;  ///< [trajectories] index among the scenarios of the run

  [[nodiscard]] std::int64_t num_states() const { return rewards.size(0); }
};

/// Packs trajectories, none of which is empty.
/// @param first_state index of the first state of each trajectory in the joined batch
/// @param widths widths of the inputs
/// @param conflicts C
/// @param top_k maximum number of decisions in a state
Experience pack(const std::vector<Trajectory>& trajectories,
                const std::vector<std::int64_t>& first_state, const model::ControllerInputs& widths,
                std::int64_t conflicts, std::int64_t top_k);

/// Value estimates for the same quantity as a signal, which is the rewards or the costs.
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
/// Copies some states of an experience.
/// @param states [S'] int64, on the CPU: indices of the states
/// @param device device of Minibatch::input and Minibatch::decisions
Minibatch take(const Experience& experience, const torch::Tensor& states, torch::Device device);

}  // namespace traffic::train
