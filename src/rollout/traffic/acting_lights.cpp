// ActingLights: lets a rank's policy set the traffic lights of a simulation (acting_lights.h).
#include "acting_lights.h"

#include <algorithm>

#include "light_section.h"

namespace traffic::rollout {

void ActingLights::begin(const BeginningEpisode& episode) {
  sumo_ = &episode.sumo;
  setter_ = episode.spec.observed ? Setter::kRank : Setter::kProgram;
  if (episode.script != nullptr && episode.script->sets_signals()) setter_ = Setter::kScript;
  if (setter_ == Setter::kRank) {
    chooser_.reset(episode.spec.traffic.seed);
    sumo_->take_signals(chooser_.mode());
  }
  graph_builder_.reset();
  if (setter_ == Setter::kRank && shows_graph_) graph_builder_.emplace(sumo_->road());
  lost_s_.assign(sumo_->road().lights.size(), 0.0);
}

void ActingLights::begin_period() { std::fill(lost_s_.begin(), lost_s_.end(), 0.0); }

void ActingLights::obey(std::span<const std::byte> orders) {
  if (setter_ != Setter::kRank) return;
  sumo_->apply(chooser_.commands(sumo_->signals(), commands_in<scene::SignalCommand>(orders)));
}

void ActingLights::note_step(const MadeStep& /*step*/) {
  if (setter_ == Setter::kProgram) return;
  for (std::size_t light = 0; light < lost_s_.size(); ++light) {
    lost_s_[light] += sumo_->signals().light(static_cast<int>(light)).lost_s;
  }
}

void ActingLights::write(ByteWriter& section, bool /*terminated*/, bool done) {
  choices_.clear();
  rows_.clear();
  if (setter_ == Setter::kRank && !done) chooser_.find(sumo_->signals(), choices_, rows_);
  const bool shows_graph = graph_builder_ && !choices_.empty();
  if (shows_graph) graph_builder_->build(sumo_->signals(), graph_);
  write_lights({.lost_s = lost_s_,
                .choices = choices_,
                .rows = rows_,
                .graph = shows_graph ? graph_.view() : scene::SignalGraphView{}},
               section);
}

}  // namespace traffic::rollout
