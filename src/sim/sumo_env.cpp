#include "traffic/sim/sumo_env.h"

#include <libsumo/Edge.h>
#include <libsumo/Simulation.h>
#include <libsumo/Vehicle.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>

#include "lane_requests.h"
#include "networks.h"
#include "signals.h"
#include "stderr_capture.h"
#include "sumo_session.h"
#include "traffic/core/atomic_file.h"
#include "traffic/core/error.h"
#include "traffic/core/hash.h"
#include "traffic/core/random.h"
#include "traffic/core/random_streams.h"
#include "traffic/scene/frame_builder.h"
#include "traffic/sim/scenario.h"
#include "vehicle_exits.h"
#include "vehicle_handle.h"

namespace traffic::sim {
namespace {

using libsumo::Simulation;
using SumoVehicle = libsumo::Vehicle;
using scene::Vehicle;

/// A vehicle that wants to enter the road.
struct Pending {
  const scene::RoutePlan* plan = nullptr;  ///< null while SUMO has given it no route
  double wished_s = 0;                     ///< SUMO's time at which it wanted to depart
  double counted_s = 0;                    ///< part of its delay that the score already includes
};

bool contains(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

struct SumoEnv::Impl {
  Impl(const EnvOptions& env_options, Start start)
      : options(env_options),
        scenario(find_scenario(env_options.scenario)),
        networks(env_options.shield_limits) {
    if (start == Start::kNow) reset(options.seed, {});
  }

  void reset(std::uint64_t episode_seed, const std::vector<std::string>& extra_args) {
    load(episode_seed, extra_args);
    begin_s = Simulation::getTime();
    begin_episode();
    adopt_saved_traffic();  // the scenario may have the option load-state
    observe();
  }

  void resume(const SavedTraffic& saved, std::uint64_t episode_seed,
              const std::vector<std::string>& args) {
    begin_s = first_second(args);
    // With 0 route-steps SUMO reads all routes at once. If it read a part of the route files later,
    // flows that ended before the traffic was saved would start again.
    load(episode_seed, args,
         {{"load-state", saved.file.string()},
          {"begin", std::to_string(begin_s + saved.time_s)},
          {"route-steps", "0"}});
    begin_episode();
    adopt_saved_traffic();
    observe();
  }

  /// Takes over the vehicles of a saved state: those on the road and those that wait to enter.
  void adopt_saved_traffic() {
    auto known = SumoVehicle::getIDList();
    std::sort(known.begin(), known.end());
    std::stable_sort(known.begin(), known.end(), [](const auto& a, const auto& b) {
      return SumoVehicle::getDeparture(a) < SumoVehicle::getDeparture(b);
    });
    for (const auto& name : known) depart(name, Origin::kSavedTraffic);
    for (const auto& name : Simulation::getPendingVehicles()) {
      Pending& vehicle = pending_vehicle(name);
      vehicle.counted_s = Simulation::getTime() - vehicle.wished_s;
    }
  }

  /// SUMO's time at which episodes of the scenario begin.
  [[nodiscard]] double first_second(const std::vector<std::string>& extra_args) {
    std::vector<std::string> args = options.sumo_args;
    args.insert(args.end(), extra_args.begin(), extra_args.end());
    return session.begin_s(scenario, args);
  }

  void save(const std::filesystem::path& file) {
    try {
      AtomicFile whole(file);
      session.save_state(whole.temp_path());
      whole.commit();
    } catch (const std::exception& e) {
      session.close();
      throw WorkerError("the state of simulation {} cannot be saved: {}", scenario.string(),
                        e.what());
    }
  }

  /// @param settings SUMO's options that replace those of the scenario and of the arguments
  void load(std::uint64_t episode_seed, const std::vector<std::string>& extra_args,
            const std::map<std::string, std::string>& settings = {}) {
    std::vector<std::string> args = options.sumo_args;
    args.insert(args.end(), extra_args.begin(), extra_args.end());
    session.load({.sumocfg = scenario,
                  .seed = episode_seed,
                  .args = args,
                  .demand_factor = options.demand_factor,
                  .settings = settings});
    exits.listen();
    seed = episode_seed;
    read_network(Simulation::getOption("net-file"));
  }

  /// Begins an episode on an empty road.
  void begin_episode() {
    const double end =
        options.max_time_s > 0 ? options.max_time_s : Simulation::getEndTime() - begin_s;
    state->reset(Simulation::getDeltaT(), std::max(end, 0.0));
    signals.reset(road->lights);
    signal_view.reset();
    book.clear();
    lane_requests.clear();
    names.clear();
    handles.clear();
    lane_of_address.clear();
    ids.clear();
    pending.clear();
    colliding.clear();
    frame_valid = false;
    emergency_brakes = emergency_brakes_so_far();
  }

  void read_network(const std::string& file) {
    if (road && file == net_file) return;
    net_file = file;
    const Network& network = networks.of(file);
    road = network.road;
    plans = network.plans;
    state = network.state;
  }

  void step() {
    try {
      give_commands();
      if (signal_view) signals.set(signal_book.advance());
      exits.clear();
      Simulation::step();
      observe();
    } catch (const Error&) {
      throw;
    } catch (const std::exception& e) {  // SUMO also throws types that its headers do not show
      // SUMO reads the demand while it simulates, and only then finds errors in it.
      const double at_s = state->time_s();
      session.close();
      throw DataError("simulation {} failed after {:g} s: {}", scenario.string(), at_s,
                      one_line(e.what()));
    }
    ++steps;
    frame_valid = false;
  }

  // Commands.

  void give_commands() {
    for (const auto id : book.expire(*state)) SumoVehicle::setSpeed(names[id], -1.0);
    lane_requests.expire(*state, names);
    for (auto& active : book.active()) {
      const Vehicle& vehicle = *state->find(active.command.vehicle_id);
      if (vehicle.lane < 0) continue;
      ask_lane(active, vehicle);
      ask_speed(active, vehicle);
    }
  }

  void ask_lane(scene::ActiveCommand& active, const Vehicle& vehicle) {
    if (active.lane_asked || active.command.lane_change == scene::LaneChange::kKeep) return;
    active.lane_asked = true;
    lane_requests.ask(vehicle, active.command.lane_change, names[vehicle.id], *state);
  }

  void ask_speed(const scene::ActiveCommand& active, const Vehicle& vehicle) {
    const std::string& name = names[vehicle.id];
    const double allowed = SumoVehicle::getAllowedSpeed(name);
    auto speed = scene::next_speed(active, vehicle, *state, options.control_limits, allowed);
    if (speed) {
      const double possible =
          scene::clip_speed(*speed, vehicle.speed_mps, vehicle.ability, state->step_length_s());
      // Only accelerations count as clipped: a target speed may take many steps to reach, but an
      // acceleration is meant for this step.
      const bool asked = active.command.longitudinal == scene::Longitudinal::kAcceleration;
      if (asked && possible != *speed) ++state->score().shield_clips;
      speed = possible;
    }
    if (speed && options.shield) speed = shielded(*speed, vehicle);
    SumoVehicle::setSpeed(name, speed.value_or(-1.0));
  }

  double shielded(double wanted, const Vehicle& vehicle) {
    if (vehicle.leader < 0) return wanted;
    const Vehicle& leader = state->vehicles()[static_cast<std::size_t>(vehicle.leader)];
    const double gap_m = vehicle.leader_gap_m - vehicle.min_gap_m;
    // SUMO's car-following model still limits the speed that the command asks for.
    const double followed =
        SumoVehicle::getFollowSpeed(names[vehicle.id], vehicle.speed_mps, gap_m, leader.speed_mps,
                                    leader.ability.max_decel_mps2, names[leader.id]);
    const scene::FollowSituation situation{std::min(wanted, followed), vehicle.speed_mps, gap_m,
                                           leader.speed_mps};
    const auto braked =
        scene::braking_override(situation, options.shield_limits, state->step_length_s());
    if (!braked) return wanted;
    ++state->score().shield_overrides;
    return *braked;
  }

  // Observation.

  void observe() {
    const double now = Simulation::getTime();
    scene::StepEvents events;
    events.time_s = now - begin_s;
    note_collisions(events);
    note_departures_and_exits();
    for (auto& vehicle : state->vehicles()) read(vehicle);
    for (auto& vehicle : state->away()) read(vehicle);
    note_waiting(events);
    events.emergency_stops = Simulation::getEmergencyStoppingVehiclesNumber();
    note_emergency_brakes(events);
    events.teleports = Simulation::getStartingTeleportNumber();
    signals.read(now, events.lights);
    state->update(events);
    if (signal_view) observe_signals();
  }

  /// Number of emergency brakings that SUMO has counted since the simulation began. With saved
  /// traffic the count goes on from the simulation that saved it.
  static int emergency_brakes_so_far() {
    return std::stoi(Simulation::getParameter("", "stats.safety.emergencyBraking"));
  }

  void note_emergency_brakes(scene::StepEvents& events) {
    const int so_far = emergency_brakes_so_far();
    events.emergency_brakes = so_far - emergency_brakes;
    emergency_brakes = so_far;
  }

  void take_signals(scene::SignalMode mode) {
    signal_book.reset(signals.plans(), options.signal_limits, mode);
    signal_view.emplace(*road);
    observe_signals();
  }

  void observe_signals() {
    signal_book.observe(state->time_s(), state->lights());
    signal_view->update(*state, signal_book);
    for (int light = 0; light < signal_book.num_lights(); ++light) {
      const scene::SignalLightState& now = signal_view->light(light);
      signal_book.set_inside(light, now.inside, now.leaving);
    }
    state->score().signal_changes = signal_book.num_changes();
  }

  void note_departures_and_exits() {
    const auto left = Simulation::getArrivedIDList();
    TRAFFIC_CHECK(left.size() == exits.all().size(),
                  "{} vehicles have left the simulation, but SUMO lists {}", exits.all().size(),
                  left.size());
    const auto departed = Simulation::getDepartedIDList();
    for (const auto& name : departed) {
      if (!contains(left, name) && ids.count(name) == 0) depart(name, Origin::kOutside);
    }
    // Saved traffic does not list vehicles that are being teleported.
    for (const auto& name : Simulation::getEndingTeleportIDList()) {
      if (!contains(left, name) && ids.count(name) == 0) depart(name, Origin::kSavedTraffic);
    }
    for (std::size_t i = 0; i < left.size(); ++i) {
      const VehicleExit& exit = exits.all()[i];
      if (const auto found = ids.find(left[i]); found != ids.end()) {
        leave(found->second, exit);
        ids.erase(found);
      } else if (contains(departed, left[i])) {
        state->pass_through(exit.arrived, exit.time_loss_s,
                            exit.depart_delay_s - counted_delay_s(left[i]));
        pending.erase(left[i]);
      }
    }
  }

  void leave(std::uint32_t id, const VehicleExit& exit) {
    state->find(id)->time_loss_s = exit.time_loss_s;
    if (exit.arrived)
      state->arrive(id);
    else
      state->remove(id);
  }

  /// @return null for a vehicle that has no route yet: SUMO then lists zones, which are no edges
  const scene::RoutePlan* plan_of(const std::string& name) {
    std::vector<int> edges;
    for (const auto& id : SumoVehicle::getRoute(name)) {
      const auto found = road->edge_index.find(id);
      if (found != road->edge_index.end()) edges.push_back(found->second);
    }
    return edges.empty() ? nullptr : &plans->of(edges);
  }

  Pending& pending_vehicle(const std::string& name) {
    const auto [found, is_new] = pending.try_emplace(name);
    Pending& vehicle = found->second;
    if (is_new) vehicle.wished_s = Simulation::getTime() - SumoVehicle::getDepartDelay(name);
    if (vehicle.plan == nullptr) vehicle.plan = plan_of(name);
    return vehicle;
  }

  [[nodiscard]] double counted_delay_s(const std::string& name) const {
    const auto found = pending.find(name);
    return found != pending.end() ? found->second.counted_s : 0.0;
  }

  /// Where a vehicle comes from that is seen for the first time.
  enum class Origin : std::uint8_t { kOutside, kSavedTraffic };

  void depart(const std::string& name, Origin origin) {
    handles.emplace_back(name);
    Vehicle vehicle;
    double waited_s = 0;
    if (origin == Origin::kSavedTraffic) {
      vehicle.driven_m = std::max(0.0, SumoVehicle::getDistance(name));  // below 0: off the road
      vehicle.time_loss_s = handles.back().time_loss_s();
    } else {
      waited_s = SumoVehicle::getDepartDelay(name) - counted_delay_s(name);
    }
    pending.erase(name);
    vehicle.id = static_cast<std::uint32_t>(names.size());
    vehicle.plan = plan_of(name);
    vehicle.is_cv = is_cv(name);
    vehicle.length_m = SumoVehicle::getLength(name);
    vehicle.min_gap_m = SumoVehicle::getMinGap(name);
    vehicle.ability = {SumoVehicle::getAccel(name), SumoVehicle::getDecel(name)};
    vehicle.max_speed_mps = SumoVehicle::getMaxSpeed(name);
    vehicle.speed_factor = SumoVehicle::getSpeedFactor(name);
    names.push_back(name);
    ids[name] = vehicle.id;
    state->depart(vehicle, waited_s);
  }

  [[nodiscard]] bool is_cv(const std::string& name) const {
    if (options.cv_share > 0) {
      // Drawn by name, not by order of departure, so that the same vehicles are connected with and
      // without control.
      Rng rng(derive_seed(seed, {kConnectedStream, xxh3_64(name)}));
      return rng.uniform() < options.cv_share;
    }
    const std::string type = SumoVehicle::getTypeID(name);
    return contains(options.cv_types, type);
  }

  void read(Vehicle& vehicle) {
    const VehicleHandle& handle = handles[vehicle.id];
    vehicle.lane = lane_of(handle, names[vehicle.id]);
    vehicle.lane_pos_m = handle.lane_pos_m();
    vehicle.speed_mps = handle.speed_mps();
    vehicle.time_loss_s = handle.time_loss_s();
    if (vehicle.lane >= 0) follow_route(vehicle);
  }

  /// Brings plan and route_index of a vehicle up to date. A vehicle whose lane is not on its route,
  /// as in overtaking on a lane of the opposite direction, is on no lane.
  void follow_route(Vehicle& vehicle) {
    const auto& on = road->lanes[static_cast<std::size_t>(vehicle.lane)];
    const bool inside = on.exit_lane >= 0;
    const int edge = inside ? road->lanes[static_cast<std::size_t>(on.exit_lane)].edge : on.edge;
    const auto passes = [&](int index) {
      const auto& edges = vehicle.plan->edges;
      return index >= 0 && index < static_cast<int>(edges.size()) &&
             edges[static_cast<std::size_t>(index)] == edge;
    };
    if (passes(vehicle.route_index)) return;
    const std::string& name = names[vehicle.id];
    // A route may contain the edge more than once, or the vehicle may only overtake on it. SUMO's
    // own index says which edge of the route comes now. Inside a junction it is still the index of
    // the edge before.
    const int index = SumoVehicle::getRouteIndex(name) + (inside ? 1 : 0);
    if (!passes(index)) {  // SUMO may have given it another route
      if (const auto* plan = plan_of(name)) vehicle.plan = plan;
    }
    if (passes(index))
      vehicle.route_index = index;
    else
      vehicle.lane = -1;
  }

  /// @return -1 if the vehicle is on no lane
  int lane_of(const VehicleHandle& handle, const std::string& name) {
    const void* address = handle.lane();
    if (address != nullptr) {
      if (const auto known = lane_of_address.find(address); known != lane_of_address.end())
        return known->second;
    }
    const auto found = road->lane_index.find(SumoVehicle::getLaneID(name));
    const int lane = found != road->lane_index.end() ? found->second : -1;
    if (address != nullptr) lane_of_address.emplace(address, lane);
    return lane;
  }

  void note_waiting(scene::StepEvents& events) {
    const double now = Simulation::getTime();
    for (const auto& name : Simulation::getPendingVehicles()) {
      Pending& vehicle = pending_vehicle(name);
      const double delay_s = now - vehicle.wished_s;
      events.waiting.push_back({vehicle.plan, delay_s - vehicle.counted_s});
      vehicle.counted_s = delay_s;
    }
  }

  /// Counts pairs that have begun to collide. SUMO lists a pair in every step in which it overlaps.
  void note_collisions(scene::StepEvents& events) {
    std::set<std::pair<std::string, std::string>> now;
    for (const auto& collision : Simulation::getCollisions()) {
      now.emplace(collision.collider, collision.victim);
    }
    for (const auto& pair : now) events.collisions += colliding.count(pair) > 0 ? 0 : 1;
    colliding = std::move(now);
  }

  EnvOptions options;
  std::filesystem::path scenario;
  VehicleExits exits;  ///< must outlive the session, to whose simulation it listens
  SumoSession session;
  std::uint64_t seed = 0;
  std::string net_file;
  Networks networks;
  std::shared_ptr<const scene::Road> road;
  std::shared_ptr<scene::RoutePlans> plans;
  std::shared_ptr<scene::RoadState> state;
  scene::CommandBook book;
  LaneRequests lane_requests;
  scene::FrameBuilder frames;
  SignalReader signals;
  scene::SignalBook signal_book;
  std::optional<scene::SignalView> signal_view;  ///< set once the lights are taken over
  const scene::GraphFrame* frame = nullptr;
  bool frame_valid = false;
  double begin_s = 0;
  std::int64_t steps = 0;
  int emergency_brakes = 0;            ///< SUMO's count after the last step
  std::vector<std::string> names;      ///< [vehicle ids]
  std::vector<VehicleHandle> handles;  ///< [vehicle ids]
  std::unordered_map<const void*, int> lane_of_address;
  std::unordered_map<std::string, std::uint32_t> ids;  ///< vehicles that have not left, by name
  std::unordered_map<std::string, Pending> pending;    ///< by name
  std::set<std::pair<std::string, std::string>> colliding;  ///< colliding pairs in the last step
};

SumoEnv::SumoEnv(const EnvOptions& options, Start start)
    : impl_(std::make_unique<Impl>(options, start)) {}
SumoEnv::~SumoEnv() = default;

void SumoEnv::set_scenario(std::string_view name_or_path) {
  impl_->scenario = find_scenario(name_or_path);
}
void SumoEnv::set_demand_factor(double factor) { impl_->options.demand_factor = factor; }
void SumoEnv::reset(std::uint64_t seed, const std::vector<std::string>& extra_args) {
  impl_->reset(seed, extra_args);
}
void SumoEnv::resume(const SavedTraffic& saved, std::uint64_t seed,
                     const std::vector<std::string>& extra_args) {
  impl_->resume(saved, seed, extra_args);
}
void SumoEnv::save(const std::filesystem::path& file) { impl_->save(file); }
void SumoEnv::apply(std::span<const scene::Command> commands) {
  impl_->book.add(commands, *impl_->state);
  impl_->frame_valid = false;
}
void SumoEnv::take_signals(scene::SignalMode mode) { impl_->take_signals(mode); }
void SumoEnv::apply(std::span<const scene::SignalCommand> commands) {
  TRAFFIC_CHECK(impl_->signal_view.has_value(),
                "lights got commands, but take_signals() has not been called");
  impl_->signal_book.add(commands);
}
void SumoEnv::set_speed_limit(int edge, double limit_mps) {
  const auto& edges = impl_->road->edges;
  TRAFFIC_CHECK(edge >= 0 && edge < static_cast<int>(edges.size()),
                "there is no edge {}: the network has {} edges", edge, edges.size());
  TRAFFIC_CHECK(limit_mps > 0.0 && std::isfinite(limit_mps),
                "a speed limit of {} m/s, expected a finite number above 0", limit_mps);
  libsumo::Edge::setMaxSpeed(edges[static_cast<std::size_t>(edge)].id, limit_mps);
}
const scene::SignalView& SumoEnv::signals() const {
  TRAFFIC_CHECK(impl_->signal_view.has_value(),
                "signals() was called, but take_signals() has not been called");
  return *impl_->signal_view;
}
void SumoEnv::step() { impl_->step(); }
bool SumoEnv::done() const {
  const auto& state = *impl_->state;
  // Step times are sums of step lengths and carry rounding errors.
  if (state.end_s() > 0) return state.time_s() >= state.end_s() - 1e-6;
  return Simulation::getMinExpectedNumber() == 0;
}

const scene::GraphFrame& SumoEnv::frame() {
  if (!impl_->frame_valid) impl_->frame = &impl_->frames.build(*impl_->state);
  impl_->frame_valid = true;
  return *impl_->frame;
}
const scene::RoadState& SumoEnv::state() const { return *impl_->state; }
const scene::Road& SumoEnv::road() const { return *impl_->road; }
const scene::EpisodeScore& SumoEnv::score() const { return std::as_const(*impl_->state).score(); }
double SumoEnv::time_s() const { return impl_->state->time_s(); }
double SumoEnv::step_length_s() const { return impl_->state->step_length_s(); }
const std::filesystem::path& SumoEnv::scenario() const { return impl_->scenario; }
std::int64_t SumoEnv::steps() const { return impl_->steps; }
const std::string& SumoEnv::name_of(std::uint32_t vehicle_id) const {
  TRAFFIC_CHECK(vehicle_id < impl_->names.size(),
                "there is no vehicle {}: {} vehicles have departed", vehicle_id,
                impl_->names.size());
  return impl_->names[vehicle_id];
}

std::string sumo_version() { return Simulation::getVersion().second; }

}  // namespace traffic::sim
