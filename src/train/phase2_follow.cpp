/// Experience in which a scripted controller decides: it does so within the simulation, so what it
/// decided in a state is known when the control period is over.
#include <algorithm>
#include <utility>

#include "expert_decisions.h"
#include "phase2_collector_job.h"

namespace traffic::train {
namespace {

constexpr std::int64_t kKeepLane = 1;

}  // namespace

void Collector::follow(Job& job, int env) {
  Slot& slot = job.slots.at(env);
  const rollout::Period& period = pool_.period(env);
  const bool per_conflict = job.driver.perception->conflicts() > 1;
  slot.commandable = {};
  for (const rollout::Candidate& candidate : period.candidates) {
    const auto node = static_cast<std::size_t>(candidate.node);
    slot.commandable.vehicle_id.push_back(period.frames.back().vehicle_id[node]);
    slot.commandable.conflict.push_back(per_conflict ? candidate.conflict : 0);
  }
  slot.commandable.may_pick =
      std::max<std::int64_t>(0, job.driver.policy->top_k() - count_committed(period));
  Step step;
  step.conflicts = per_conflict ? std::max<std::int64_t>(1, period.num_conflicts) : std::int64_t{1};
  step.seen = std::move(*slot.pending);
  slot.trajectory.steps.push_back(std::move(step));
  slot.pending.reset();
  pool_.act(env, {});
}

/// What the expert asked for becomes the decisions of the last step.
void Collector::take_over(Slot& slot, const rollout::Period& period) const {
  Step& step = slot.trajectory.steps.back();
  const Commandable& commandable = slot.commandable;
  const ExpertDecisions made =
      expert_decisions(commandable.vehicle_id, period.scripted, commands_, commandable.may_pick,
                       config_.env.control_period_s / 2.0);
  const std::size_t picked = made.place.size();
  step.place = made.place;
  step.action = made.action;
  step.lane.assign(picked, kKeepLane);
  step.own_cost.assign(picked, 0.0F);
  for (const std::int64_t place : made.place) {
    step.decision_conflict.push_back(commandable.conflict[static_cast<std::size_t>(place)]);
  }
  step.selection_decides = picked > 0 && commandable.vehicle_id.size() > picked;
}

}  // namespace traffic::train
