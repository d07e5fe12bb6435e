/// The functions of TrafficEpisodes for imitation: they record the decisions of a scripted
/// controller (the expert). Either the expert commands the vehicles, or the policy commands them
/// and the commands that the expert would give are recorded. The expert runs in the simulation
/// process. Its decisions in a state are therefore known only after the control period that begins
/// in this state.
#include <utility>

#include "rollouts/expert_decisions.h"
#include "rollouts/traffic_episodes.h"

namespace traffic::train {

/// Whether the expert commands the vehicles of an environment.
bool TrafficEpisodes::follows(int env) {
  return !behaviour().experts.empty() && !wanted_.states.at(env).advised;
}

/// Stores the candidates of the present state, which take_over() needs after the control period.
void TrafficEpisodes::note_commandable(EpisodeState& state, const rollout::Period& period) const {
  state.commandable = {};
  for (const scene::Candidate& candidate : period.of<rollout::VehicleSection>().candidates) {
    const auto node = static_cast<std::size_t>(candidate.node);
    state.commandable.vehicle_id.push_back(
        period.of<rollout::VehicleSection>().frames.back().vehicle_id[node]);
    state.commandable.conflict.push_back(credited(candidate));
  }
  state.commandable.may_pick = decider()->may_pick(period);
}

/// Begins a step and starts a control period in which the expert commands the vehicles.
void TrafficEpisodes::follow(int env) {
  EpisodeState& state = wanted_.states.at(env);
  const rollout::Period& period = pool_.period(env);
  note_commandable(state, period);
  state.trajectory.steps.push_back(begin_step(std::move(*state.pending), period));
  state.pending.reset();
  order(env, {});
}

/// Stores the expert's commands as the decisions of the last step, even if the policy commanded the
/// vehicles in it.
void TrafficEpisodes::take_over(EpisodeState& state, const rollout::Period& period) const {
  const Commandable& commandable = state.commandable;
  const DecisionColumns made = expert_decisions(
      commandable.vehicle_id, period.of<rollout::VehicleSection>().scripted,
      decider()->policy().commands(), commandable.may_pick, config_.env.control_period_s / 2.0);
  Step& step = state.trajectory.steps.back();
  note_decisions(step, made);
  for (const std::int64_t place : made.place) {
    step.decision_conflict.push_back(commandable.conflict[static_cast<std::size_t>(place)]);
  }
}

}  // namespace traffic::train
