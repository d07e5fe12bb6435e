#include "signals.h"

#include <libsumo/TrafficLight.h>

namespace traffic::sim {

using Sumo = libsumo::TrafficLight;

void SignalReader::reset(const std::vector<std::string>& ids) {
  lights_.clear();
  for (const auto& id : ids) lights_.push_back({id, {}, {}});
}

std::vector<scene::SignalPlan> SignalReader::plans() const {
  std::vector<scene::SignalPlan> plans;
  for (const Light& light : lights_) plans.emplace_back(phases_of(light));
  return plans;
}

void SignalReader::set(std::span<const scene::SignalChange> changes) {
  for (const scene::SignalChange& change : changes) {
    Light& light = lights_[static_cast<std::size_t>(change.light)];
    Sumo::setRedYellowGreenState(light.id, change.state);
    light.is_set = true;
  }
}

std::vector<scene::SignalPhase> SignalReader::phases_of(const Light& light) {
  std::vector<scene::SignalPhase> phases;
  for (const auto& logic : Sumo::getAllProgramLogics(light.id)) {
    if (logic.programID != light.program_id) continue;
    for (const auto& phase : logic.phases) phases.push_back({phase->duration, phase->state});
  }
  return phases;
}

void SignalReader::read_program(Light& light) {
  light.program.clear();
  if (auto phases = phases_of(light); !phases.empty())
    light.program.emplace_back(std::move(phases));
}

void SignalReader::read(double time_s, std::vector<scene::LightState>& lights) {
  lights.resize(lights_.size());
  for (std::size_t i = 0; i < lights_.size(); ++i) {
    Light& light = lights_[i];
    if (auto program = light.is_set ? light.program_id : Sumo::getProgram(light.id);
        program != light.program_id) {
      light.program_id = std::move(program);
      read_program(light);
    }
    if (light.is_set || light.program.empty()) {  // what shows now, and no change in sight
      lights[i] = {};
      lights[i].state = Sumo::getRedYellowGreenState(light.id);
      lights[i].change_s.assign(lights[i].state.size(), scene::kSignalHorizonS);
      lights[i].green_end_s = lights[i].change_s;
      continue;
    }
    lights[i] =
        light.program.front().at(Sumo::getPhase(light.id), Sumo::getNextSwitch(light.id) - time_s);
  }
}

}  // namespace traffic::sim
