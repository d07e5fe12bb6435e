/// Joins the perception and the policy of the vehicles: turns the observations of simulations into
/// commands. A training decides for many simulations at once, a controller in an evaluation for one
/// simulation; both use this class.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "policy/decisions.h"
#include "policy/perception.h"
#include "policy/policy.h"

namespace traffic::train {

/// A state of a simulation in which the policy decides.
struct DecisionInput {
  const rollout::Period* period = nullptr;
  const Observation* seen = nullptr;  ///< result of observe() for this period
};

/// The D decisions in one state.
struct DecidedState {
  DecisionColumns made;
  /// [D] command of each decision; nothing if the vehicle gets none, so that SUMO's driver model
  /// controls it
  std::vector<std::optional<scene::Command>> commands;
};

/// Fills in the random numbers of one decision. Each control step of each episode has its own
/// stream, so the numbers do not depend on which simulations share a batch.
/// @param seed seed of all decisions of the episode
/// @param step number of the decision in the episode
/// @param uniforms overwritten with numbers in [0, 1)
void draw_uniforms(std::uint64_t seed, std::int64_t step, std::span<float> uniforms);

/// Computes observations and decisions. It keeps no state of the simulations.
class Decider {
 public:
  /// Function that writes the random numbers for the M candidates of the state with index `state`.
  /// `uniforms` has M * Policy::uniform_columns() elements.
  using Draw = std::function<void(std::size_t state, std::span<float> uniforms)>;

  Decider(Perception& perception, Policy& policy) : perception_(perception), policy_(policy) {}

  [[nodiscard]] Perception& perception() const { return perception_; }
  [[nodiscard]] Policy& policy() const { return policy_; }

  /// Computes the observation of each input, see Perception::observe().
  [[nodiscard]] std::vector<Observation> observe(std::span<const ObservationInput> inputs) const;
  /// Maximum number of candidates that may be picked: Policy::top_k() minus the number of vehicles
  /// whose command still lasts.
  [[nodiscard]] std::int64_t may_pick(const rollout::Period& period) const;
  /// Picks candidates in each state and chooses their commands.
  /// @param draw supplies random numbers to sample with; if it is empty, decisions are greedy
  [[nodiscard]] std::vector<DecidedState> decide(std::span<const DecisionInput> states,
                                                 const Draw& draw = {}) const;

 private:
  Perception& perception_;
  Policy& policy_;
};

}  // namespace traffic::train
