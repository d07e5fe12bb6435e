#include "signals.h"

#include <libsumo/TrafficLight.h>

namespace traffic::sim {

using Sumo = libsumo::TrafficLight;

void SignalReader::reset(const std::vector<std::string>& ids) {
  lights_.clear();
  for (const auto& id : ids) lights_.push_back({.id = id, .program_id = {}, .program = {}});
}

std::vector<scene::SignalPlan> SignalReader::plans() const {
  std::vector<scene::SignalPlan> plans;
  for (const Light& light : lights_) plans.emplace_back(logic_of(light));
  return plans;
}

void SignalReader::set(std::span<const scene::SignalChange> changes) {
  for (const scene::SignalChange& change : changes) {
    Light& light = lights_[static_cast<std::size_t>(change.light)];
    if (change.left_s >= 0.0) {
      Sumo::setPhaseDuration(light.id, change.left_s);
      continue;
    }
    Sumo::setRedYellowGreenState(light.id, change.state);
    light.is_set = true;
  }
}

scene::SignalLogic SignalReader::logic_of(const Light& light) {
  scene::SignalLogic found;
  for (const auto& logic : Sumo::getAllProgramLogics(light.id)) {
    if (logic.programID != light.program_id) continue;
    for (const auto& phase : logic.phases) {
      found.phases.push_back({.duration_s = phase->duration,
                              .state = phase->state,
                              .name = phase->name,
                              .min_s = phase->minDur,
                              .max_s = phase->maxDur});
    }
    found.parameters = logic.subParameter;
  }
  return found;
}

/// The order of states under a NEMA program is not known, since its rings advance independently.
void SignalReader::read_program(Light& light) {
  light.program.reset();
  scene::SignalLogic logic = logic_of(light);
  if (!logic.phases.empty() && !logic.has_rings()) light.program.emplace(std::move(logic.phases));
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
    std::string shown = Sumo::getRedYellowGreenState(light.id);
    if (!light.is_set && light.program) {
      const double left_s = Sumo::getNextSwitch(light.id) - time_s;
      lights[i] = light.program->at(Sumo::getPhase(light.id), left_s);
      if (lights[i].state == shown) continue;
    }
    // The light shows a state that is in no program, or the order of its phases is not known.
    lights[i] = {};
    lights[i].state = std::move(shown);
    lights[i].change_s.assign(lights[i].state.size(), scene::kSignalHorizonS);
    lights[i].green_end_s = lights[i].change_s;
  }
}

}  // namespace traffic::sim
