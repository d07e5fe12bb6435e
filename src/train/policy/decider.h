/// From what simulations show to commands for their vehicles: the same way in training, where a
/// rank decides for many at once, and in evaluation, where a controller decides within one.
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

/// A state to be decided on.
struct DecisionInput {
  const rollout::Period* period = nullptr;
  const Observation* seen = nullptr;  ///< what was observed of it
};

/// What was decided in a state.
struct DecidedState {
  DecisionColumns made;
  /// [D] Nothing where the vehicle is to drive on its own model.
  std::vector<std::optional<scene::Command>> commands;
};

/// Random numbers of the decision at a control step: a stream for each step of each episode, so
/// nothing depends on which simulations share a batch.
void draw_uniforms(std::uint64_t seed, std::int64_t step, std::span<float> uniforms);

class Decider {
 public:
  /// Random numbers of a state's candidates, to be written: [M * Policy::uniform_columns()].
  using Draw = std::function<void(std::size_t state, std::span<float> uniforms)>;

  Decider(Perception& perception, Policy& policy) : perception_(perception), policy_(policy) {}

  [[nodiscard]] Perception& perception() const { return perception_; }
  [[nodiscard]] Policy& policy() const { return policy_; }

  /// Takes the frames of each period in, oldest first.
  [[nodiscard]] std::vector<Observation> observe(std::span<const ObservationInput> inputs) const;
  /// How many of its candidates may be picked, beside those whose command lasts.
  [[nodiscard]] std::int64_t may_pick(const rollout::Period& period) const;
  /// @param draw empty: greedy
  [[nodiscard]] std::vector<DecidedState> decide(std::span<const DecisionInput> states,
                                                 const Draw& draw = {}) const;

 private:
  Perception& perception_;
  Policy& policy_;
};

}  // namespace traffic::train
