#include "ppo/return_point.h"

#include <cmath>

#include "run/snapshot_parts.h"

namespace traffic::train {
namespace {

constexpr const char* kReturnPointGroup = "return_point";

}  // namespace

double ReturnPoint::step_factor() const {
  return std::pow(training_.rollback_factor, static_cast<double>(rollbacks_));
}

void ReturnPoint::keep(const Learner& learner, const TrainedLights* lights) {
  if (training_.max_rollbacks == 0) return;
  kept_.emplace();
  learner.save_to(*kept_);
  if (lights != nullptr) lights->save_to(*kept_);
  kept_->own_tensors();
}

bool ReturnPoint::go_back(Learner& learner, TrainedLights* lights) {
  if (!kept_ || rollbacks_ >= training_.max_rollbacks) return false;
  learner.restore_from(*kept_);
  if (lights != nullptr) lights->restore_from(*kept_);
  ++rollbacks_;
  learner.set_step_factor(step_factor());
  return true;
}

void ReturnPoint::save_to(checkpoint::Snapshot& snapshot) const {
  snapshot.put_int("ppo/rollbacks", rollbacks_);
  if (kept_) put_group(snapshot, kReturnPointGroup, *kept_);
}

void ReturnPoint::restore_from(const checkpoint::Snapshot& snapshot, Learner& learner) {
  // Checkpoints of earlier versions have neither.
  rollbacks_ = snapshot.contains("ppo/rollbacks") ? snapshot.integer("ppo/rollbacks") : 0;
  kept_ = group_in(snapshot, kReturnPointGroup);
  learner.set_step_factor(step_factor());
}

}  // namespace traffic::train
