/// The functions of TrafficEpisodes in which the policy observes the answers of simulations and
/// gives commands.
#include <algorithm>
#include <optional>
#include <utility>

#include "rollouts/traffic_episodes.h"

namespace traffic::train {

/// Whether each conflict of the road has a reward of its own.
bool TrafficEpisodes::per_conflict() const { return decider()->perception().conflicts() > 1; }

/// Index of the conflict whose rewards count for a decision about this candidate. It is 0 if there
/// is a single reward for the whole road.
std::int64_t TrafficEpisodes::credited(const scene::Candidate& candidate) const {
  return per_conflict() ? candidate.conflict : 0;
}

/// Makes a step with its observation. The decisions are added later.
Step TrafficEpisodes::begin_step(Observation seen, const rollout::Period& period) const {
  const std::int64_t conflicts = per_conflict() ? period.num_conflicts : 1;
  Step step;
  step.seen = std::move(seen);
  step.conflicts = std::max<std::int64_t>(1, conflicts);
  return step;
}

void TrafficEpisodes::observe(std::span<const int> envs) {
  if (decider() == nullptr) return;
  std::vector<ObservationInput> inputs;
  std::vector<EpisodeState*> observed;
  for (const int env : envs) {
    EpisodeState& state = wanted_.states.at(env);
    if (state.pending) continue;
    inputs.push_back({.period = &pool_.period(env), .memory = &state.memory});
    observed.push_back(&state);
  }
  if (observed.empty()) return;
  std::vector<Observation> seen = decider()->observe(inputs);
  for (std::size_t b = 0; b < observed.size(); ++b) observed[b]->pending = std::move(seen[b]);
}

void TrafficEpisodes::decide(std::span<const int> envs) {
  if (decider() == nullptr) {
    for (const int env : envs) order(env, {});
    return;
  }
  std::vector<int> own;
  for (const int env : envs) {
    if (follows(env)) {
      follow(env);
    } else {
      own.push_back(env);
    }
  }
  if (!own.empty()) decide_by_policy(own);
}

void TrafficEpisodes::decide_by_policy(std::span<const int> envs) {
  std::vector<DecisionInput> states;
  for (const int env : envs) {
    states.push_back({.period = &pool_.period(env), .seen = &*wanted_.states.at(env).pending});
  }
  Decider::Draw draws;
  if (samples()) {
    draws = [&](std::size_t b, std::span<float> uniforms) {
      const EpisodeState& state = wanted_.states.at(envs[b]);
      draw_uniforms(state.sampling_seed, state.outcome.steps, uniforms);
    };
  }
  const std::vector<DecidedState> decided = decider()->decide(states, draws);
  for (std::size_t b = 0; b < envs.size(); ++b) act(envs[b], decided[b]);
}

void TrafficEpisodes::act(int env, const DecidedState& decided) {
  EpisodeState& state = wanted_.states.at(env);
  const rollout::Period& period = pool_.period(env);
  const scene::FrameView& frame = period.of<rollout::VehicleSection>().frames.back();
  std::vector<std::int64_t> decision_conflict;
  std::vector<scene::Command> commands;
  for (std::size_t d = 0; d < decided.made.size(); ++d) {
    const auto& candidate = period.of<rollout::VehicleSection>()
                                .candidates[static_cast<std::size_t>(decided.made.place[d])];
    decision_conflict.push_back(credited(candidate));
    const std::uint32_t vehicle = frame.vehicle_id[static_cast<std::size_t>(candidate.node)];
    state.charges.erase(vehicle);
    if (!decided.commands[d]) continue;
    commands.push_back(*decided.commands[d]);
    // In this case take_over() stores the decisions of the script instead of those of the policy.
    if (state.advised) continue;
    state.charges[vehicle] = {.step = state.trajectory.steps.size(), .decision = d};
  }
  if (keeps_steps()) {
    Step step = begin_step(std::move(*state.pending), period);
    if (state.advised) {
      note_commandable(state, period);
    } else {
      step.decision_conflict = std::move(decision_conflict);
      note_decisions(step, decided.made);
    }
    state.trajectory.steps.push_back(std::move(step));
  }
  state.pending.reset();
  if (of_fragments()) {
    state.given.push_back(commands);
    state.replayed = state.given.size();
  }
  order(env, commands);
}

}  // namespace traffic::train
