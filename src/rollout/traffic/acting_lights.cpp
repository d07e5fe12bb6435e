#include "acting_lights.h"

#include <algorithm>

namespace traffic::rollout {

void ActingLights::begin(sim::SumoEnv& sumo, Setter setter, bool shows_graph, std::uint64_t seed) {
  sumo_ = &sumo;
  setter_ = setter;
  if (setter_ == Setter::kRank) {
    chooser_.reset(seed);
    sumo.take_signals(chooser_.mode());
  }
  graph_builder_.reset();
  if (setter_ == Setter::kRank && shows_graph) graph_builder_.emplace(sumo.road());
  lost_s_.assign(sumo.road().lights.size(), 0.0);
}

void ActingLights::obey(std::span<const scene::SignalCommand> chosen) {
  std::fill(lost_s_.begin(), lost_s_.end(), 0.0);
  if (setter_ == Setter::kRank) sumo_->apply(chooser_.commands(sumo_->signals(), chosen));
}

void ActingLights::note_step() {
  if (setter_ == Setter::kProgram) return;
  for (std::size_t light = 0; light < lost_s_.size(); ++light) {
    lost_s_[light] += sumo_->signals().light(static_cast<int>(light)).lost_s;
  }
}

LightSection ActingLights::section(bool done) {
  choices_.clear();
  rows_.clear();
  if (setter_ == Setter::kRank && !done) chooser_.find(sumo_->signals(), choices_, rows_);
  const bool shows_graph = graph_builder_ && !choices_.empty();
  if (shows_graph) graph_builder_->build(sumo_->signals(), graph_);
  return {.lost_s = lost_s_,
          .choices = choices_,
          .rows = rows_,
          .graph = shows_graph ? graph_.view() : scene::SignalGraphView{}};
}

}  // namespace traffic::rollout
