#include "signals.h"

#include <libsumo/TrafficLight.h>

namespace traffic::sim {

using Sumo = libsumo::TrafficLight;

void SignalReader::reset(const std::vector<std::string>& ids) {
  lights_.clear();
  for (const auto& id : ids) lights_.push_back({id, {}, {}});
}

void SignalReader::read_program(Light& light) {
  light.program.clear();
  for (const auto& logic : Sumo::getAllProgramLogics(light.id)) {
    if (logic.programID != light.program_id || logic.phases.empty()) continue;
    std::vector<scene::SignalPhase> phases;
    for (const auto& phase : logic.phases) phases.push_back({phase->duration, phase->state});
    light.program.emplace_back(std::move(phases));
  }
}

void SignalReader::read(double time_s, std::vector<scene::LightState>& lights) {
  lights.resize(lights_.size());
  for (std::size_t i = 0; i < lights_.size(); ++i) {
    Light& light = lights_[i];
    if (auto program = Sumo::getProgram(light.id); program != light.program_id) {
      light.program_id = std::move(program);
      read_program(light);
    }
    if (light.program.empty()) {  // switched off: what shows now, and no change in sight
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
