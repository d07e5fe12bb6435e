// Implements the interface Simulator with requests to a running SUMO, by its protocol TraCI.
#include "traci_simulator.h"

#include <libsumo/TraCIConstants.h>

#include <algorithm>
#include <cmath>
#include <unordered_set>
#include <utility>

#include "process_settings.h"
#include "sumo_options.h"
#include "traffic/core/error.h"
#include "traffic/sim/scenario.h"

namespace traffic::sim {
namespace {

namespace tc = libsumo;

/// SUMO writes -1073741824 for a quantity that a vehicle does not have now.
bool exists(double value) { return value != tc::INVALID_DOUBLE_VALUE; }

TraciRequest of_vehicle(int variable, const std::string& vehicle) {
  return {.command = tc::CMD_GET_VEHICLE_VARIABLE, .variable = variable, .object = vehicle};
}

/// The variables of each vehicle that are read after a step, in this order.
constexpr int kMotionVariables[] = {tc::VAR_LANE_ID, tc::VAR_LANEPOSITION, tc::VAR_SPEED,
                                    tc::VAR_TIMELOSS, tc::VAR_ALLOWED_SPEED};

}  // namespace

TraciReader TraciSimulator::ask(int command, int variable, const std::string& object,
                                std::string parameters) {
  return client_.ask({{.command = command,
                       .variable = variable,
                       .object = object,
                       .parameters = std::move(parameters)}})[0];
}

TraciReader TraciSimulator::ask_vehicle(int variable, const std::string& vehicle) {
  return ask(tc::CMD_GET_VEHICLE_VARIABLE, variable, vehicle);
}

void TraciSimulator::check_network(const scene::Road& road, const std::string& network_file) {
  const auto lights = ask(tc::CMD_GET_TL_VARIABLE, tc::TRACI_ID_LIST, "").typed_texts();
  const auto lanes = ask(tc::CMD_GET_LANE_VARIABLE, tc::TRACI_ID_LIST, "").typed_texts();
  const auto refuse = [&](const std::string& difference) {
    throw DataError(
        "{}: the running simulation has another network than {}: {}; name with --scenario the "
        ".sumocfg with which it was started",
        client_.address(), network_file, difference);
  };
  for (const std::string& light : road.lights) {
    if (!std::ranges::count(lights, light)) refuse(fmt::format("it has no light '{}'", light));
  }
  const std::unordered_set<std::string> there(lanes.begin(), lanes.end());
  std::vector<TraciRequest> requests;
  for (const scene::Lane& lane : road.lanes) {
    if (!there.contains(lane.id)) refuse(fmt::format("it has no lane '{}'", lane.id));
    requests.push_back(
        {.command = tc::CMD_GET_LANE_VARIABLE, .variable = tc::VAR_LENGTH, .object = lane.id});
  }
  auto answers = client_.ask(requests);
  for (std::size_t i = 0; i < answers.size(); ++i) {
    const double found_m = answers[i].typed_real();
    constexpr double kRounding_m = 0.01;  // as netconvert writes lengths
    if (std::fabs(found_m - road.lanes[i].length_m) > kRounding_m) {
      refuse(fmt::format("its lane '{}' is {:.2f} m long, expected {:.2f} m", road.lanes[i].id,
                         found_m, road.lanes[i].length_m));
    }
  }
}

void TraciSimulator::begin(const scene::Road& road) {
  road_ = &road;
  known_.clear();
  teleporting_.clear();
  observe();
}

void TraciSimulator::step() {
  client_.step();
  observe();
}

void TraciSimulator::observe() {
  read_events();
  read_lights();
  read_motions();
}

void TraciSimulator::read_events() {
  const auto of_simulation = [](int variable) {
    return TraciRequest{.command = tc::CMD_GET_SIM_VARIABLE, .variable = variable, .object = ""};
  };
  const auto statistic = [](std::string_view name) {
    return TraciRequest{.command = tc::CMD_GET_SIM_VARIABLE,
                        .variable = tc::VAR_PARAMETER,
                        .object = "",
                        .parameters = traci::typed(name)};
  };
  auto answers = client_.ask(
      {of_simulation(tc::VAR_TIME), of_simulation(tc::VAR_END), of_simulation(tc::VAR_DELTA_T),
       of_simulation(tc::VAR_MIN_EXPECTED_VEHICLES), of_simulation(tc::VAR_DEPARTED_VEHICLES_IDS),
       of_simulation(tc::VAR_TELEPORT_STARTING_VEHICLES_IDS),
       of_simulation(tc::VAR_TELEPORT_ENDING_VEHICLES_IDS),
       of_simulation(tc::VAR_ARRIVED_VEHICLES_IDS), of_simulation(tc::VAR_PENDING_VEHICLES),
       of_simulation(tc::VAR_EMERGENCYSTOPPING_VEHICLES_NUMBER),
       of_simulation(tc::VAR_COLLIDING_VEHICLES_NUMBER), statistic("stats.safety.emergencyBraking"),
       statistic("stats.teleports.total")});
  auto next = answers.begin();
  const double time_s = (next++)->typed_real();
  if (time_s < time_s_) {
    throw WorkerError(
        "{}: another client has loaded a simulation anew: time went back from {:g} s to {:g} s; "
        "start this program again",
        client_.address(), time_s_, time_s);
  }
  time_s_ = time_s;
  end_s_ = (next++)->typed_real();
  step_length_s_ = (next++)->typed_real();
  vehicles_expected_ = (next++)->typed_int();
  events_ = {};
  events_.departed = (next++)->typed_texts();
  const auto teleported = (next++)->typed_texts();
  events_.teleports_ended = (next++)->typed_texts();
  const auto left = (next++)->typed_texts();
  events_.waiting = (next++)->typed_texts();
  events_.emergency_stops = (next++)->typed_int();
  const int colliding = (next++)->typed_int();
  events_.emergency_brakes_so_far = std::stoi((next++)->typed_text());
  events_.teleports_so_far = std::stoi((next++)->typed_text());
  teleporting_.insert(teleported.begin(), teleported.end());
  for (const auto& name : events_.teleports_ended) teleporting_.erase(name);
  for (const auto& name : left) {
    LeftVehicle one{.name = name, .exit = std::nullopt};
    // SUMO also removes a vehicle whose teleport leads beyond the end of its route.
    if (teleporting_.erase(name) > 0) {
      one.exit = VehicleExit{.arrived = false, .time_loss_s = known_[name].motion.time_loss_s};
    }
    known_.erase(name);
    events_.left.push_back(std::move(one));
  }
  if (colliding == 0) return;
  TraciReader pairs = ask(tc::CMD_GET_SIM_VARIABLE, tc::VAR_COLLISIONS, "");
  pairs.compound();
  for (int i = pairs.typed_int(); i > 0; --i) {
    const std::string collider = pairs.typed_text();
    const std::string victim = pairs.typed_text();
    events_.colliding.emplace_back(collider, victim);
    for (int text = 0; text < 2; ++text) pairs.typed_text();  // types
    for (int real = 0; real < 2; ++real) pairs.typed_real();  // speeds
    for (int text = 0; text < 2; ++text) pairs.typed_text();  // kind and lane
    pairs.typed_real();                                       // position
  }
}

void TraciSimulator::read_lights() {
  std::vector<TraciRequest> requests;
  for (const std::string& light : road_->lights) {
    for (const int variable : {tc::TL_CURRENT_PROGRAM, tc::TL_RED_YELLOW_GREEN_STATE,
                               tc::TL_CURRENT_PHASE, tc::TL_NEXT_SWITCH}) {
      requests.push_back(
          {.command = tc::CMD_GET_TL_VARIABLE, .variable = variable, .object = light});
    }
  }
  auto answers = client_.ask(requests);
  auto next = answers.begin();
  for (const std::string& light : road_->lights) {
    Light& now = lights_[light];
    now.program = (next++)->typed_text();
    now.state = (next++)->typed_text();
    now.phase = (next++)->typed_int();
    now.next_switch_s = (next++)->typed_real();
  }
}

void TraciSimulator::read_motions() {
  std::vector<std::string> names;
  std::vector<TraciRequest> requests;
  for (const auto& [name, known] : known_) {
    names.push_back(name);
    for (const int variable : kMotionVariables) requests.push_back(of_vehicle(variable, name));
  }
  auto answers = client_.try_ask(requests);
  auto next = answers.begin();
  for (const std::string& name : names) {
    const auto first = std::exchange(next, next + std::size(kMotionVariables));
    if (!first->has_value()) {  // another client has removed the vehicle
      events_.left.push_back(
          {.name = name,
           .exit = VehicleExit{.arrived = false, .time_loss_s = known_[name].motion.time_loss_s}});
      known_.erase(name);
      continue;
    }
    Known& known = known_[name];
    known.motion = motion_of(**first, *first[1], *first[2], *first[3]);
    known.allowed_speed_mps = first[4]->typed_real();
  }
}

Motion TraciSimulator::motion_of(TraciReader& lane, TraciReader& pos, TraciReader& speed,
                                 TraciReader& loss) const {
  Motion motion;
  const auto found = road_->lane_index.find(lane.typed_text());
  if (found != road_->lane_index.end()) motion.lane = found->second;
  if (const double lane_pos_m = pos.typed_real(); exists(lane_pos_m)) {
    motion.lane_pos_m = lane_pos_m;
  }
  if (const double speed_mps = speed.typed_real(); exists(speed_mps)) motion.speed_mps = speed_mps;
  motion.time_loss_s = loss.typed_real();
  return motion;
}

std::string TraciSimulator::option(const std::string& name) {
  return ask(tc::CMD_GET_SIM_VARIABLE, tc::VAR_OPTION, name).typed_text();
}

std::vector<std::string> TraciSimulator::vehicles() {
  return ask(tc::CMD_GET_VEHICLE_VARIABLE, tc::TRACI_ID_LIST, "").typed_texts();
}

VehicleFacts TraciSimulator::facts(const std::string& vehicle) {
  auto answers =
      client_.ask({of_vehicle(tc::VAR_TYPE, vehicle), of_vehicle(tc::VAR_LENGTH, vehicle),
                   of_vehicle(tc::VAR_MINGAP, vehicle), of_vehicle(tc::VAR_ACCEL, vehicle),
                   of_vehicle(tc::VAR_DECEL, vehicle), of_vehicle(tc::VAR_MAXSPEED, vehicle),
                   of_vehicle(tc::VAR_SPEED_FACTOR, vehicle)});
  return {.type = answers[0].typed_text(),
          .length_m = answers[1].typed_real(),
          .min_gap_m = answers[2].typed_real(),
          .accel_mps2 = answers[3].typed_real(),
          .decel_mps2 = answers[4].typed_real(),
          .max_speed_mps = answers[5].typed_real(),
          .speed_factor = answers[6].typed_real()};
}

std::vector<std::string> TraciSimulator::route(const std::string& vehicle) {
  return ask_vehicle(tc::VAR_EDGES, vehicle).typed_texts();
}
int TraciSimulator::route_index(const std::string& vehicle) {
  return ask_vehicle(tc::VAR_ROUTE_INDEX, vehicle).typed_int();
}
double TraciSimulator::departure_s(const std::string& vehicle) {
  return ask_vehicle(tc::VAR_DEPARTURE, vehicle).typed_real();
}
double TraciSimulator::depart_delay_s(const std::string& vehicle) {
  return ask_vehicle(tc::VAR_DEPART_DELAY, vehicle).typed_real();
}
double TraciSimulator::distance_m(const std::string& vehicle) {
  return ask_vehicle(tc::VAR_DISTANCE, vehicle).typed_real();
}

void TraciSimulator::enter(std::uint32_t /*id*/, const std::string& vehicle) {
  std::vector<TraciRequest> requests;
  for (const int variable : kMotionVariables) requests.push_back(of_vehicle(variable, vehicle));
  auto answers = client_.ask(requests);
  known_[vehicle] = {.motion = motion_of(answers[0], answers[1], answers[2], answers[3]),
                     .allowed_speed_mps = answers[4].typed_real()};
}

Motion TraciSimulator::motion(std::uint32_t /*id*/, const std::string& vehicle) {
  return known_.at(vehicle).motion;
}

double TraciSimulator::allowed_speed_mps(const std::string& vehicle) {
  return known_.at(vehicle).allowed_speed_mps;
}

double TraciSimulator::follow_speed_mps(const std::string& vehicle, double speed_mps, double gap_m,
                                        double leader_speed_mps, double leader_max_decel_mps2,
                                        const std::string& leader) {
  return ask(tc::CMD_GET_VEHICLE_VARIABLE, tc::VAR_FOLLOW_SPEED, vehicle,
             traci::compound(5) + traci::typed(speed_mps) + traci::typed(gap_m) +
                 traci::typed(leader_speed_mps) + traci::typed(leader_max_decel_mps2) +
                 traci::typed(leader))
      .typed_real();
}

void TraciSimulator::set_speed(const std::string& vehicle, double speed_mps) {
  client_.set({.command = tc::CMD_SET_VEHICLE_VARIABLE,
               .variable = tc::VAR_SPEED,
               .object = vehicle,
               .parameters = traci::typed(speed_mps)});
}
void TraciSimulator::change_lane(const std::string& vehicle, int lane_index, double duration_s) {
  client_.set({.command = tc::CMD_SET_VEHICLE_VARIABLE,
               .variable = tc::CMD_CHANGELANE,
               .object = vehicle,
               .parameters =
                   traci::compound(2) + traci::typed_byte(lane_index) + traci::typed(duration_s)});
}
int TraciSimulator::lane_index(const std::string& vehicle) {
  return ask_vehicle(tc::VAR_LANE_INDEX, vehicle).typed_int();
}
void TraciSimulator::set_speed_limit(const std::string& edge, double limit_mps) {
  client_.set({.command = tc::CMD_SET_EDGE_VARIABLE,
               .variable = tc::VAR_MAXSPEED,
               .object = edge,
               .parameters = traci::typed(limit_mps)});
}

std::string TraciSimulator::light_program(const std::string& light) {
  return lights_.at(light).program;
}
std::string TraciSimulator::light_state(const std::string& light) {
  return lights_.at(light).state;
}
int TraciSimulator::light_phase(const std::string& light) { return lights_.at(light).phase; }
double TraciSimulator::light_next_switch_s(const std::string& light) {
  return lights_.at(light).next_switch_s;
}

scene::SignalLogic TraciSimulator::light_logic(const std::string& light,
                                               const std::string& program) {
  TraciReader answer = ask(tc::CMD_GET_TL_VARIABLE, tc::TL_COMPLETE_DEFINITION_RYG, light);
  scene::SignalLogic found;
  for (int logic = answer.compound(); logic > 0; --logic) {
    scene::SignalLogic one;
    answer.compound();
    const std::string id = answer.typed_text();
    answer.typed_int();  // type
    answer.typed_int();  // present phase
    for (int phase = answer.compound(); phase > 0; --phase) {
      answer.compound();
      scene::SignalPhase& now = one.phases.emplace_back();
      now.duration_s = answer.typed_real();
      now.state = answer.typed_text();
      now.min_s = answer.typed_real();
      now.max_s = answer.typed_real();
      for (int next = answer.compound(); next > 0; --next) answer.typed_int();
      now.name = answer.typed_text();
    }
    for (int parameter = answer.compound(); parameter > 0; --parameter) {
      const auto key_and_value = answer.typed_texts();
      if (key_and_value.size() == 2) one.parameters[key_and_value[0]] = key_and_value[1];
    }
    if (id == program) found = std::move(one);
  }
  return found;
}

void TraciSimulator::set_light_state(const std::string& light, const std::string& state) {
  client_.set({.command = tc::CMD_SET_TL_VARIABLE,
               .variable = tc::TL_RED_YELLOW_GREEN_STATE,
               .object = light,
               .parameters = traci::typed(state)});
}
void TraciSimulator::set_light_program(const std::string& light, const std::string& program) {
  client_.set({.command = tc::CMD_SET_TL_VARIABLE,
               .variable = tc::TL_PROGRAM,
               .object = light,
               .parameters = traci::typed(program)});
}
void TraciSimulator::set_phase_duration(const std::string& light, double left_s) {
  client_.set({.command = tc::CMD_SET_TL_VARIABLE,
               .variable = tc::TL_PHASE_DURATION,
               .object = light,
               .parameters = traci::typed(left_s)});
}

std::unique_ptr<SumoEnv> join_simulation(const EnvOptions& options,
                                         const RunningSimulation& simulation) {
  prepare_process();
  const SumoOptions scenario(find_scenario(options.scenario), options.sumo_args);
  const auto files = scenario.files("net-file");
  if (files.empty()) {
    throw DataError("scenario {} names no network (SUMO's option net-file)", options.scenario);
  }
  const std::string network_file = files.front().string();
  const scene::Road road = scene::read_road(network_file);
  auto running = std::make_unique<TraciSimulator>(simulation);
  running->check_network(road, network_file);
  return std::make_unique<SumoEnv>(options, std::move(running), network_file);
}

}  // namespace traffic::sim
