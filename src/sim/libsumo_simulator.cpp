// Implements the interface Simulator with the functions of libsumo, for SUMO in this process.
#include "libsumo_simulator.h"

#include <libsumo/Edge.h>
#include <libsumo/Simulation.h>
#include <libsumo/TrafficLight.h>
#include <libsumo/Vehicle.h>

#include "traffic/core/error.h"

namespace traffic::sim {

using libsumo::Simulation;
using libsumo::TrafficLight;
using SumoVehicle = libsumo::Vehicle;

void LibsumoSimulator::load(const SumoRun& run) {
  session_.load(run);
  step_s_ = Simulation::getDeltaT();
  exits_.listen(step_s_);
}

void LibsumoSimulator::begin(const scene::Road& road) {
  road_ = &road;
  handles_.clear();
  lane_of_address_.clear();
}

void LibsumoSimulator::step() {
  exits_.clear();
  Simulation::step();
}

SimulatorEvents LibsumoSimulator::events() {
  SimulatorEvents events;
  events.departed = Simulation::getDepartedIDList();
  events.teleports_ended = Simulation::getEndingTeleportIDList();
  events.waiting = Simulation::getPendingVehicles();
  const auto left = Simulation::getArrivedIDList();
  TRAFFIC_CHECK(left.size() == exits_.all().size(),
                "{} vehicles have left the simulation, but SUMO lists {}", exits_.all().size(),
                left.size());
  for (std::size_t i = 0; i < left.size(); ++i) {
    events.left.push_back({.name = left[i], .exit = exits_.all()[i]});
  }
  for (const auto& collision : Simulation::getCollisions()) {
    events.colliding.emplace_back(collision.collider, collision.victim);
  }
  events.emergency_stops = Simulation::getEmergencyStoppingVehiclesNumber();
  events.emergency_brakes_so_far =
      std::stoi(Simulation::getParameter("", "stats.safety.emergencyBraking"));
  events.teleports_so_far = std::stoi(Simulation::getParameter("", "stats.teleports.total"));
  return events;
}

double LibsumoSimulator::time_s() { return Simulation::getTime(); }
double LibsumoSimulator::end_s() { return Simulation::getEndTime(); }
double LibsumoSimulator::step_length_s() { return Simulation::getDeltaT(); }
std::string LibsumoSimulator::option(const std::string& name) {
  return Simulation::getOption(name);
}
int LibsumoSimulator::vehicles_expected() { return Simulation::getMinExpectedNumber(); }

std::vector<std::string> LibsumoSimulator::vehicles() { return SumoVehicle::getIDList(); }

VehicleFacts LibsumoSimulator::facts(const std::string& vehicle) {
  return {.type = SumoVehicle::getTypeID(vehicle),
          .length_m = SumoVehicle::getLength(vehicle),
          .min_gap_m = SumoVehicle::getMinGap(vehicle),
          .accel_mps2 = SumoVehicle::getAccel(vehicle),
          .decel_mps2 = SumoVehicle::getDecel(vehicle),
          .max_speed_mps = SumoVehicle::getMaxSpeed(vehicle),
          .speed_factor = SumoVehicle::getSpeedFactor(vehicle)};
}

std::vector<std::string> LibsumoSimulator::route(const std::string& vehicle) {
  return SumoVehicle::getRoute(vehicle);
}
int LibsumoSimulator::route_index(const std::string& vehicle) {
  return SumoVehicle::getRouteIndex(vehicle);
}
double LibsumoSimulator::departure_s(const std::string& vehicle) {
  return SumoVehicle::getDeparture(vehicle);
}
double LibsumoSimulator::depart_delay_s(const std::string& vehicle) {
  return SumoVehicle::getDepartDelay(vehicle);
}
double LibsumoSimulator::distance_m(const std::string& vehicle) {
  return SumoVehicle::getDistance(vehicle);
}
scene::Emissions LibsumoSimulator::idle_emissions_per_s(const std::string& vehicle) {
  return emissions_ ? sim::idle_emissions_per_s(vehicle) : scene::Emissions{};
}

void LibsumoSimulator::enter(std::uint32_t id, const std::string& vehicle) {
  TRAFFIC_CHECK(id == handles_.size(),
                "vehicle {} enters, expected number {}, the number of vehicles that entered before",
                id, handles_.size());
  handles_.emplace_back(vehicle, emissions_);
  if (emissions_) exits_.note_departure(handles_.back());
}

Motion LibsumoSimulator::motion(std::uint32_t id, const std::string& vehicle) {
  const VehicleHandle& handle = handles_[id];
  return {.lane = lane_of(handle, vehicle),
          .lane_pos_m = handle.lane_pos_m(),
          .speed_mps = handle.speed_mps(),
          .time_loss_s = handle.time_loss_s(),
          .emissions = emissions_ ? handle.emissions(step_s_) : scene::Emissions{}};
}

/// @return -1 if the vehicle is on no lane
int LibsumoSimulator::lane_of(const VehicleHandle& handle, const std::string& vehicle) {
  const void* address = handle.lane();
  if (address != nullptr) {
    if (const auto known = lane_of_address_.find(address); known != lane_of_address_.end())
      return known->second;
  }
  const auto found = road_->lane_index.find(SumoVehicle::getLaneID(vehicle));
  const int lane = found != road_->lane_index.end() ? found->second : -1;
  if (address != nullptr) lane_of_address_.emplace(address, lane);
  return lane;
}

double LibsumoSimulator::allowed_speed_mps(const std::string& vehicle) {
  return SumoVehicle::getAllowedSpeed(vehicle);
}
double LibsumoSimulator::follow_speed_mps(const std::string& vehicle, double speed_mps,
                                          double gap_m, double leader_speed_mps,
                                          double leader_max_decel_mps2, const std::string& leader) {
  return SumoVehicle::getFollowSpeed(vehicle, speed_mps, gap_m, leader_speed_mps,
                                     leader_max_decel_mps2, leader);
}
void LibsumoSimulator::set_speed(const std::string& vehicle, double speed_mps) {
  SumoVehicle::setSpeed(vehicle, speed_mps);
}
void LibsumoSimulator::change_lane(const std::string& vehicle, int lane_index, double duration_s) {
  SumoVehicle::changeLane(vehicle, lane_index, duration_s);
}
int LibsumoSimulator::lane_index(const std::string& vehicle) {
  return SumoVehicle::getLaneIndex(vehicle);
}
void LibsumoSimulator::set_speed_limit(const std::string& edge, double limit_mps) {
  libsumo::Edge::setMaxSpeed(edge, limit_mps);
}

std::string LibsumoSimulator::light_program(const std::string& light) {
  return TrafficLight::getProgram(light);
}
std::string LibsumoSimulator::light_state(const std::string& light) {
  return TrafficLight::getRedYellowGreenState(light);
}
int LibsumoSimulator::light_phase(const std::string& light) {
  return TrafficLight::getPhase(light);
}
double LibsumoSimulator::light_next_switch_s(const std::string& light) {
  return TrafficLight::getNextSwitch(light);
}

scene::SignalLogic LibsumoSimulator::light_logic(const std::string& light,
                                                 const std::string& program) {
  scene::SignalLogic found;
  for (const auto& logic : TrafficLight::getAllProgramLogics(light)) {
    if (logic.programID != program) continue;
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

void LibsumoSimulator::set_light_state(const std::string& light, const std::string& state) {
  TrafficLight::setRedYellowGreenState(light, state);
}
void LibsumoSimulator::set_light_program(const std::string& light, const std::string& program) {
  TrafficLight::setProgram(light, program);
}
void LibsumoSimulator::set_phase_duration(const std::string& light, double left_s) {
  TrafficLight::setPhaseDuration(light, left_s);
}

}  // namespace traffic::sim
