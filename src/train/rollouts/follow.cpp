/// Experience in which a scripted controller decides: it does so within the simulation, so what it
/// decided in a state is known when the control period is over.
#include <utility>

#include "rollouts/collector_job.h"
#include "rollouts/expert_decisions.h"

namespace traffic::train {

void Collector::follow(Job& job, int env) {
  Slot& slot = job.slots.at(env);
  const rollout::Period& period = pool_.period(env);
  slot.commandable = {};
  for (const rollout::Candidate& candidate : period.candidates) {
    const auto node = static_cast<std::size_t>(candidate.node);
    slot.commandable.vehicle_id.push_back(period.frames.back().vehicle_id[node]);
    slot.commandable.conflict.push_back(job.credited(candidate));
  }
  slot.commandable.may_pick = job.may_pick(period);
  slot.trajectory.steps.push_back(job.begin_step(std::move(*slot.pending), period));
  slot.pending.reset();
  pool_.act(env, {});
}

/// What the expert asked for becomes the decisions of the last step.
void Collector::take_over(const Job& job, Slot& slot, const rollout::Period& period) const {
  const Commandable& commandable = slot.commandable;
  const ExpertDecisions made =
      expert_decisions(commandable.vehicle_id, period.scripted, job.driver.policy->commands(),
                       commandable.may_pick, config_.env.control_period_s / 2.0);
  const std::vector<std::int64_t> lane(made.place.size(), kKeepLane);
  Step& step = slot.trajectory.steps.back();
  note_decisions(step, {.place = made.place, .action = made.action, .lane = lane});
  for (const std::int64_t place : made.place) {
    step.decision_conflict.push_back(commandable.conflict[static_cast<std::size_t>(place)]);
  }
}

}  // namespace traffic::train
