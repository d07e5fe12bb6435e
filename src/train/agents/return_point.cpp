#include "agents/return_point.h"

#include <cmath>

#include "run/snapshot_parts.h"

namespace traffic::train {
namespace {

constexpr const char* kGroup = "return_point";
constexpr const char* kRollbacks = "progress/rollbacks";

}  // namespace

double ReturnPoint::step_factor() const {
  return std::pow(settings_.rollback_factor, static_cast<double>(rollbacks_));
}

void ReturnPoint::keep(const Agents& agents) {
  if (settings_.max_rollbacks == 0) return;
  kept_.emplace();
  for (const auto& agent : agents) agent->save_learner(*kept_);
  kept_->own_tensors();
}

bool ReturnPoint::go_back(const Agents& agents) {
  if (!kept_ || rollbacks_ >= settings_.max_rollbacks) return false;
  ++rollbacks_;
  for (const auto& agent : agents) {
    agent->restore_learner(*kept_);
    agent->set_step_factor(step_factor());
  }
  return true;
}

void ReturnPoint::save_to(checkpoint::Snapshot& snapshot) const {
  snapshot.put_int(kRollbacks, rollbacks_);
  if (kept_) put_group(snapshot, kGroup, *kept_);
}

void ReturnPoint::restore_from(const checkpoint::Snapshot& snapshot, const Agents& agents) {
  rollbacks_ = snapshot.integer(kRollbacks);
  kept_ = group_in(snapshot, kGroup);
  for (const auto& agent : agents) agent->set_step_factor(step_factor());
}

}  // namespace traffic::train
