// ActingVehicles: lets a rank's policy command the vehicles of a simulation (acting_vehicles.h).
#include "acting_vehicles.h"

#include <algorithm>

#include "traffic/sim/env_options.h"
#include "vehicle_section.h"

namespace traffic::rollout {

ActingVehicles::ActingVehicles(const config::Config& config)
    : candidate_rule_(sim::controller_options(config).candidates),
      advisor_(sim::make_advisor(config)) {}

void ActingVehicles::begin(const BeginningEpisode& episode) {
  sumo_ = &episode.sumo;
  observed_ = episode.spec.observed;
  is_advised_ =
      advisor_ != nullptr && observed_ && (episode.script == nullptr || episode.spec.advises);
}

void ActingVehicles::begin_period() {
  num_frames_ = 0;
  controlled_.clear();
  scripted_.clear();
}

void ActingVehicles::obey(std::span<const std::byte> orders) {
  const auto commands = commands_in<scene::Command>(orders);
  commands_.assign(commands.begin(), commands.end());
  if (is_advised_) advisor_->heed(commands_);
  if (!commands_.empty()) sumo_->apply(commands_);
}

void ActingVehicles::before_step(std::int64_t step) {
  if (step > 1 && is_advised_) sumo_->apply(advisor_->go_on(sumo_->state()));
}

void ActingVehicles::note_step(const MadeStep& step) {
  scripted_.insert(scripted_.end(), step.scripted.begin(), step.scripted.end());
  note_controlled();
  if (step.frame_due) note_frame();
}

void ActingVehicles::note_frame() {
  if (!observed_) return;
  if (num_frames_ == frames_.size()) frames_.emplace_back();
  frames_[num_frames_++] = sumo_->frame();
}

void ActingVehicles::note_controlled() {
  const auto vehicles = sumo_->state().vehicles();
  for (const scene::Vehicle& vehicle : vehicles) {
    if (!vehicle.commanded) continue;
    auto entry = std::find_if(
        controlled_.begin(), controlled_.end(),
        [&](const ControlledVehicle& known) { return known.vehicle_id == vehicle.id; });
    if (entry == controlled_.end()) {
      entry = controlled_.insert(controlled_.end(), {.vehicle_id = vehicle.id});
    }
    const bool followed = vehicle.follower >= 0;
    const auto& follower = vehicles[followed ? static_cast<std::size_t>(vehicle.follower) : 0];
    entry->conflict = vehicle.conflict;
    entry->steps += 1;
    if (vehicle.braking || (followed && follower.braking)) entry->hard_brakes += 1;
    if (vehicle.unsafe || (followed && follower.unsafe)) entry->unsafe_steps += 1;
  }
}

void ActingVehicles::write(ByteWriter& section, bool terminated, bool /*done*/) {
  candidates_.clear();
  section_.frames.clear();
  section_.advice = {};
  for (std::size_t f = 0; f < num_frames_; ++f) section_.frames.push_back(frames_[f].view());
  // At truncation the learner bootstraps the value of this state, so it needs the observation.
  if (observed_ && !terminated) {
    scene::find_candidates(sumo_->state(), candidate_rule_, candidates_);
    if (advisor_ != nullptr) section_.advice = advisor_->advise(sumo_->state());
  }
  section_.candidates = candidates_;
  section_.controlled = controlled_;
  section_.scripted = scripted_;
  write_vehicles(section_, section);
}

}  // namespace traffic::rollout
