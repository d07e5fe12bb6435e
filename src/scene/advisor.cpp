// Compares the commands of a policy with those of the script that advises it, and keeps the script
// acting between the policy's decisions.
#include "traffic/scene/advisor.h"

#include <algorithm>
#include <unordered_map>

#include "scripts.h"
#include "traffic/scene/control_period.h"

namespace traffic::scene {

std::span<const Command> Advisor::advise(const RoadState& state) {
  ask(state);
  end_s_ = state.time_s() + control_period_s_;
  return advice_;
}

void Advisor::ask(const RoadState& state) {
  advice_.clear();
  script_->decide(state, advice_);
  next_s_ = state.time_s() + script_->period_s();
}

void Advisor::heed(std::span<Command> decided) {
  std::unordered_map<std::uint32_t, CommandKind> advised;
  for (const Command& command : advice_) advised.emplace(command.vehicle_id, category_of(command));
  left_alone_.clear();
  for (Command& command : decided) {
    const auto found = advised.find(command.vehicle_id);
    if (found == advised.end() || found->second != category_of(command)) {
      left_alone_.insert(command.vehicle_id);
    } else if (command.hold_s <= control_period_s_ + kTimeTolerance_s) {
      command.hold_s = std::min(command.hold_s, script_->period_s());
    }
    if (found != advised.end()) advised.erase(found);
  }
  for (const auto& [vehicle_id, kind] : advised) left_alone_.insert(vehicle_id);
}

std::span<const Command> Advisor::go_on(const RoadState& state) {
  if (state.time_s() < next_s_ - kTimeTolerance_s) return {};
  ask(state);
  std::erase_if(advice_, [&](const Command& command) {
    const Vehicle* vehicle = state.find(command.vehicle_id);
    return left_alone_.contains(command.vehicle_id) || vehicle == nullptr ||
           is_committed(*vehicle, state);
  });
  for (Command& command : advice_) {
    command.hold_s = std::min(command.hold_s, end_s_ - state.time_s());
  }
  return advice_;
}

}  // namespace traffic::scene
