/// Experience in which a scripted controller decides: it does so within the simulation, so what it
/// decided in a state is known when the control period is over.
#include <utility>

#include "rollouts/collection.h"
#include "rollouts/expert_decisions.h"

namespace traffic::train {

void Collector::follow(Collection& collection, int env) {
  EpisodeState& state = collection.states.at(env);
  const rollout::Period& period = pool_.period(env);
  state.commandable = {};
  for (const rollout::Candidate& candidate : period.candidates) {
    const auto node = static_cast<std::size_t>(candidate.node);
    state.commandable.vehicle_id.push_back(period.frames.back().vehicle_id[node]);
    state.commandable.conflict.push_back(collection.credited(candidate));
  }
  state.commandable.may_pick = collection.may_pick(period);
  state.trajectory.steps.push_back(collection.begin_step(std::move(*state.pending), period));
  state.pending.reset();
  pool_.act(env, {});
}

/// What the expert asked for becomes the decisions of the last step.
void Collector::take_over(const Collection& collection, EpisodeState& state,
                          const rollout::Period& period) const {
  const Commandable& commandable = state.commandable;
  const ExpertDecisions made = expert_decisions(
      commandable.vehicle_id, period.scripted, collection.driver.policy->commands(),
      commandable.may_pick, config_.env.control_period_s / 2.0);
  const std::vector<std::int64_t> lane(made.place.size(), kKeepLane);
  Step& step = state.trajectory.steps.back();
  note_decisions(step, {.place = made.place, .action = made.action, .lane = lane});
  for (const std::int64_t place : made.place) {
    step.decision_conflict.push_back(commandable.conflict[static_cast<std::size_t>(place)]);
  }
}

}  // namespace traffic::train
