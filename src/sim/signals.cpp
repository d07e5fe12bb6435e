// Reads and sets traffic lights, and predicts when their links get or lose green.
#include "signals.h"

namespace traffic::sim {

void SignalReader::reset(Simulator& simulator, const std::vector<std::string>& ids) {
  simulator_ = &simulator;
  lights_.clear();
  for (const auto& id : ids) lights_.push_back({.id = id, .program_id = {}, .program = {}});
}

std::vector<scene::SignalPlan> SignalReader::plans() const {
  std::vector<scene::SignalPlan> plans;
  for (const Light& light : lights_)
    plans.emplace_back(simulator_->light_logic(light.id, light.program_id));
  return plans;
}

void SignalReader::set(std::span<const scene::SignalChange> changes) {
  for (const scene::SignalChange& change : changes) {
    Light& light = lights_[static_cast<std::size_t>(change.light)];
    if (change.left_s >= 0.0) {
      simulator_->set_phase_duration(light.id, change.left_s);
      continue;
    }
    simulator_->set_light_state(light.id, change.state);
    light.is_set = true;
  }
}

void SignalReader::hand_back() {
  for (Light& light : lights_) {
    if (light.is_set) simulator_->set_light_program(light.id, light.program_id);
    light.is_set = false;
  }
}

/// Reads the program that the light runs. Leaves out NEMA programs: the order of their states is
/// not known, because their two rings advance independently.
void SignalReader::read_program(Light& light) {
  light.program.reset();
  scene::SignalLogic logic = simulator_->light_logic(light.id, light.program_id);
  if (!logic.phases.empty() && !logic.has_rings()) light.program.emplace(std::move(logic.phases));
}

void SignalReader::read(double time_s, std::vector<scene::LightState>& lights) {
  lights.resize(lights_.size());
  for (std::size_t i = 0; i < lights_.size(); ++i) {
    Light& light = lights_[i];
    if (auto program = light.is_set ? light.program_id : simulator_->light_program(light.id);
        program != light.program_id) {
      light.program_id = std::move(program);
      read_program(light);
    }
    std::string shown = simulator_->light_state(light.id);
    if (!light.is_set && light.program) {
      const double left_s = simulator_->light_next_switch_s(light.id) - time_s;
      lights[i] = light.program->at(simulator_->light_phase(light.id), left_s);
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
