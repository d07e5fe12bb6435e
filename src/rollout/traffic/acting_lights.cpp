// ActingLights: lets a rank's policy set the traffic lights of a simulation (acting_lights.h).
#include "acting_lights.h"

#include <algorithm>
#include <string>

#include "light_section.h"

namespace traffic::rollout {

void ActingLights::begin(const BeginningEpisode& episode) {
  sumo_ = &episode.sumo;
  cost_ = episode.spec.light_cost;
  setter_ = episode.spec.observed ? Setter::kRank : Setter::kProgram;
  if (episode.script != nullptr && episode.script->sets_signals()) setter_ = Setter::kScript;
  if (setter_ == Setter::kRank) {
    chooser_.reset(episode.spec.traffic.seed);
    sumo_->take_signals(chooser_.mode());
  }
  graph_builder_.reset();
  if (setter_ == Setter::kRank && shows_graph_) graph_builder_.emplace(sumo_->road());
  costs_s_.assign(sumo_->road().lights.size(), 0.0);
  shows_idle_ = setter_ == Setter::kRank && episode.spec.idle_lights;
  ids_.clear();
  if (!shows_idle_) return;
  for (const std::string& id : sumo_->road().lights) {
    ids_.insert(ids_.end(), id.begin(), id.end());
    ids_.push_back('\0');
  }
}

void ActingLights::begin_period() { std::fill(costs_s_.begin(), costs_s_.end(), 0.0); }

void ActingLights::obey(std::span<const std::byte> orders) {
  if (setter_ != Setter::kRank) return;
  sumo_->apply(chooser_.commands(sumo_->signals(), commands_in<scene::SignalCommand>(orders)));
}

void ActingLights::note_step(const MadeStep& /*step*/) {
  if (setter_ == Setter::kProgram) return;
  for (std::size_t light = 0; light < costs_s_.size(); ++light) {
    const scene::SignalLightState& now = sumo_->signals().light(static_cast<int>(light));
    costs_s_[light] += cost_.delay * now.lost_s + cost_.co2_s_per_g * now.emissions.co2_g +
                       cost_.electricity_s_per_wh * now.emissions.electricity_wh +
                       cost_.distance_s_per_m * now.driven_m;
  }
}

void ActingLights::write(ByteWriter& section, bool /*terminated*/, bool done) {
  choices_.clear();
  rows_.clear();
  idle_.clear();
  idle_rows_.clear();
  if (setter_ == Setter::kRank && !done) chooser_.find(sumo_->signals(), choices_, rows_);
  if (shows_idle_) chooser_.find_idle(sumo_->signals(), idle_, idle_rows_);
  const bool shows_graph = graph_builder_ && !choices_.empty();
  if (shows_graph) graph_builder_->build(sumo_->signals(), graph_);
  write_lights({.cost_s = costs_s_,
                .choices = choices_,
                .rows = rows_,
                .graph = shows_graph ? graph_.view() : scene::SignalGraphView{},
                .idle = idle_,
                .idle_rows = idle_rows_,
                .ids = ids_},
               section);
}

}  // namespace traffic::rollout
