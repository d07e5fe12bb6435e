// SumoEnv: begins episodes in SUMO, carries out commands, and observes the traffic after every
// step.
#include "traffic/sim/sumo_env.h"

#include <libsumo/Simulation.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>

#include "lane_requests.h"
#include "libsumo_simulator.h"
#include "networks.h"
#include "signals.h"
#include "stderr_capture.h"
#include "traffic/core/atomic_file.h"
#include "traffic/core/error.h"
#include "traffic/core/hash.h"
#include "traffic/core/random.h"
#include "traffic/core/random_streams.h"
#include "traffic/scene/frame_builder.h"
#include "traffic/sim/scenario.h"

namespace traffic::sim {
namespace {

using scene::Vehicle;

/// A vehicle that wants to enter the road.
struct Pending {
  const scene::RoutePlan* plan = nullptr;  ///< null while SUMO has given it no route
  double wished_s = 0;                     ///< SUMO's time at which it wanted to depart
  double counted_s = 0;                    ///< part of its delay that the score already includes
  scene::Emissions idle_per_s{};           ///< emissions per second while its engine runs
  double seen_s = 0;                       ///< SUMO's time at which it was last seen waiting
};

bool contains(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

struct SumoEnv::Impl {
  Impl(const EnvOptions& env_options, Start start)
      : Impl(env_options, std::make_unique<LibsumoSimulator>(env_options.emissions)) {
    own = static_cast<LibsumoSimulator*>(simulator.get());
    if (start == Start::kNow) reset(options.seed, {});
  }

  Impl(const EnvOptions& env_options, std::unique_ptr<Simulator> running)
      : options(env_options),
        scenario(find_scenario(env_options.scenario)),
        simulator(std::move(running)),
        networks(env_options.shield_limits) {}

  /// Begins with the present state of a simulation that runs already.
  void join(const std::string& network_file) {
    seed = std::stoull(simulator->option("seed"));
    read_network(network_file);
    begin_now();
  }

  void reset(std::uint64_t episode_seed, const std::vector<std::string>& extra_args) {
    load(episode_seed, extra_args);
    begin_now();
  }

  void begin_now() {
    begin_s = simulator->time_s();
    begin_episode();
    adopt_traffic();  // of a running simulation, or of the scenario's option load-state
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
    adopt_traffic();
    observe();
  }

  /// Takes over the vehicles that are there already: those on the road and those that wait to
  /// enter.
  void adopt_traffic() {
    std::vector<std::pair<double, std::string>> known;
    for (auto& name : simulator->vehicles()) {
      const double departure_s = simulator->departure_s(name);
      known.emplace_back(departure_s, std::move(name));
    }
    std::sort(known.begin(), known.end());
    for (const auto& [departure_s, name] : known) depart(name, Origin::kBeforeBegin);
    for (const auto& name : simulator->events().waiting) {
      Pending& vehicle = pending_vehicle(name);
      vehicle.counted_s = simulator->time_s() - vehicle.wished_s;
    }
  }

  /// SUMO's time at which episodes of the scenario begin.
  [[nodiscard]] double first_second(const std::vector<std::string>& extra_args) {
    std::vector<std::string> args = options.sumo_args;
    args.insert(args.end(), extra_args.begin(), extra_args.end());
    return own_simulation().begin_s(scenario, args);
  }

  void save(const std::filesystem::path& file) {
    try {
      AtomicFile whole(file);
      own_simulation().save_state(whole.temp_path());
      whole.commit();
    } catch (const std::exception& e) {
      simulator->close();
      throw WorkerError("the state of simulation {} cannot be saved: {}", scenario.string(),
                        e.what());
    }
  }

  /// @param settings SUMO's options that replace those of the scenario and of the arguments
  void load(std::uint64_t episode_seed, const std::vector<std::string>& extra_args,
            const std::map<std::string, std::string>& settings = {}) {
    std::vector<std::string> args = options.sumo_args;
    args.insert(args.end(), extra_args.begin(), extra_args.end());
    own_simulation().load({.sumocfg = scenario,
                           .seed = episode_seed,
                           .args = args,
                           .demand_factor = options.demand_factor,
                           .settings = settings});
    seed = episode_seed;
    read_network(simulator->option("net-file"));
  }

  LibsumoSimulator& own_simulation() {
    TRAFFIC_CHECK(
        own != nullptr,
        "this program cannot load, reset or save a simulation that somebody else has started");
    return *own;
  }

  /// Begins an episode on an empty road.
  void begin_episode() {
    const double end = options.max_time_s > 0 ? options.max_time_s : simulator->end_s() - begin_s;
    state->reset(simulator->step_length_s(), std::max(end, 0.0));
    simulator->begin(*road);
    signals.reset(*simulator, road->lights);
    signal_view.reset();
    book.clear();
    lane_requests.clear();
    names.clear();
    ids.clear();
    pending.clear();
    teleported.clear();
    colliding.clear();
    frame_valid = false;
    const SimulatorEvents before = simulator->events();
    emergency_brakes = before.emergency_brakes_so_far;
    teleports = before.teleports_so_far;
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
      simulator->step();
      observe();
    } catch (const Error&) {
      throw;
    } catch (const std::exception& e) {  // SUMO also throws types that its headers do not show
      // SUMO reads the demand while it simulates, and only then finds errors in it.
      const double at_s = state->time_s();
      simulator->close();
      throw DataError("simulation {} failed after {:g} s: {}", scenario.string(), at_s,
                      one_line(e.what()));
    }
    ++steps;
    frame_valid = false;
  }

  // Commands.

  void give_commands() {
    for (const auto id : book.expire(*state)) simulator->set_speed(names[id], -1.0);
    lane_requests.expire(*simulator, *state, names);
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
    lane_requests.ask(*simulator, vehicle, active.command.lane_change, names[vehicle.id], *state);
  }

  void hand_back() {
    for (const auto& active : book.active()) {
      const Vehicle* vehicle = state->find(active.command.vehicle_id);
      if (vehicle != nullptr) simulator->set_speed(names[vehicle->id], -1.0);
    }
    book.clear();
    lane_requests.hand_back(*simulator, *state, names);
    signals.hand_back();
    signal_view.reset();
  }

  void ask_speed(const scene::ActiveCommand& active, const Vehicle& vehicle) {
    const std::string& name = names[vehicle.id];
    const double allowed = simulator->allowed_speed_mps(name);
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
    simulator->set_speed(name, speed.value_or(-1.0));
  }

  /// The wanted speed, or the speed to brake to if the wanted speed is unsafe (level 2 of the
  /// shield).
  double shielded(double wanted, const Vehicle& vehicle) {
    if (vehicle.leader < 0) return wanted;
    const Vehicle& leader = state->vehicles()[static_cast<std::size_t>(vehicle.leader)];
    const double gap_m = vehicle.leader_gap_m - vehicle.min_gap_m;
    // SUMO's car-following model still limits the speed that the command asks for.
    const double followed =
        simulator->follow_speed_mps(names[vehicle.id], vehicle.speed_mps, gap_m, leader.speed_mps,
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
    const double now = simulator->time_s();
    const SimulatorEvents happened = simulator->events();
    scene::StepEvents events;
    events.time_s = now - begin_s;
    note_collisions(happened, events);
    note_departures_and_exits(happened);
    for (auto& vehicle : state->vehicles()) read(vehicle);
    for (auto& vehicle : state->away()) read(vehicle);
    for (const std::uint32_t id : teleported) {
      Vehicle& vehicle = *state->find(id);
      vehicle.previous_speed_mps = vehicle.speed_mps;  // a teleport is no acceleration
    }
    note_waiting(happened, events);
    events.emergency_stops = happened.emergency_stops;
    // SUMO counts since the simulation began. With saved traffic the count goes on from the
    // simulation that saved it.
    events.emergency_brakes = happened.emergency_brakes_so_far - emergency_brakes;
    emergency_brakes = happened.emergency_brakes_so_far;
    events.teleports = happened.teleports_so_far - teleports;
    teleports = happened.teleports_so_far;
    signals.read(now, events.lights);
    state->update(events);
    if (signal_view) observe_signals();
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

  void note_departures_and_exits(const SimulatorEvents& events) {
    const auto has_left = [&](const std::string& name) {
      return std::any_of(events.left.begin(), events.left.end(),
                         [&](const LeftVehicle& one) { return one.name == name; });
    };
    for (const auto& name : events.departed) {
      if (!has_left(name) && ids.count(name) == 0) depart(name, Origin::kOutside);
    }
    teleported.clear();
    // Saved traffic does not list vehicles that are being teleported.
    for (const auto& name : events.teleports_ended) {
      if (has_left(name)) continue;
      if (const auto known = ids.find(name); known != ids.end())
        teleported.push_back(known->second);
      else
        depart(name, Origin::kBeforeBegin);
    }
    for (const auto& [name, exit] : events.left) {
      if (const auto found = ids.find(name); found != ids.end()) {
        leave(found->second, exit);
        ids.erase(found);
      } else if (contains(events.departed, name)) {
        if (exit) {
          state->pass_through(exit->arrived, exit->time_loss_s,
                              exit->depart_delay_s - counted_delay_s(name));
        } else {
          state->pass_through(true, 0.0, 0.0);
        }
        pending.erase(name);
      }
    }
  }

  void leave(std::uint32_t id, const std::optional<VehicleExit>& exit) {
    Vehicle& vehicle = *state->find(id);
    if (exit) {
      vehicle.time_loss_s = exit->time_loss_s;
      vehicle.step_emissions = exit->emissions;
      vehicle.step_driven_m = exit->driven_m;
    }
    if (exit ? exit->arrived : may_have_arrived(vehicle))
      state->arrive(id);
    else
      state->remove(id);
  }

  /// Whether a vehicle can have reached the last edge of its route in the last step.
  [[nodiscard]] bool may_have_arrived(const Vehicle& vehicle) const {
    const auto& starts_m = vehicle.plan->start_m;
    const auto last = vehicle.plan->edges.size() - 1;
    const double at_m =
        starts_m[static_cast<std::size_t>(vehicle.route_index)] + vehicle.edge_pos_m;
    const double step_s = state->step_length_s();
    const double reach_m = (vehicle.speed_mps + vehicle.ability.max_accel_mps2 * step_s) * step_s;
    return at_m + reach_m >= starts_m[last];
  }

  /// @return null for a vehicle that has no route yet: SUMO then lists zones, which are no edges
  const scene::RoutePlan* plan_of(const std::string& name) {
    std::vector<int> edges;
    for (const auto& id : simulator->route(name)) {
      const auto found = road->edge_index.find(id);
      if (found != road->edge_index.end()) edges.push_back(found->second);
    }
    return edges.empty() ? nullptr : &plans->of(edges);
  }

  Pending& pending_vehicle(const std::string& name) {
    const auto [found, is_new] = pending.try_emplace(name);
    Pending& vehicle = found->second;
    if (is_new) {
      vehicle.wished_s = simulator->time_s() - simulator->depart_delay_s(name);
      vehicle.idle_per_s = simulator->idle_emissions_per_s(name);
    }
    if (vehicle.plan == nullptr) vehicle.plan = plan_of(name);
    vehicle.seen_s = simulator->time_s();
    return vehicle;
  }

  [[nodiscard]] double counted_delay_s(const std::string& name) const {
    const auto found = pending.find(name);
    return found != pending.end() ? found->second.counted_s : 0.0;
  }

  /// Where a vehicle was before it is seen for the first time: kOutside means that it has just
  /// entered the road, kBeforeBegin that it had departed before the episode began.
  enum class Origin : std::uint8_t { kOutside, kBeforeBegin };

  void depart(const std::string& name, Origin origin) {
    const VehicleFacts facts = simulator->facts(name);
    Vehicle vehicle;
    vehicle.id = static_cast<std::uint32_t>(names.size());
    simulator->enter(vehicle.id, name);
    double waited_s = 0;
    if (origin == Origin::kBeforeBegin) {
      vehicle.driven_m = std::max(0.0, simulator->distance_m(name));  // below 0: off the road
      vehicle.time_loss_s = simulator->motion(vehicle.id, name).time_loss_s;
    } else {
      waited_s = simulator->depart_delay_s(name) - counted_delay_s(name);
      if (waited_s > 0.0) vehicle.idle_per_s = simulator->idle_emissions_per_s(name);
    }
    pending.erase(name);
    vehicle.plan = plan_of(name);
    vehicle.is_cv = is_cv(name, facts.type);
    vehicle.length_m = facts.length_m;
    vehicle.min_gap_m = facts.min_gap_m;
    vehicle.ability = {facts.accel_mps2, facts.decel_mps2};
    vehicle.max_speed_mps = facts.max_speed_mps;
    vehicle.speed_factor = facts.speed_factor;
    names.push_back(name);
    ids[name] = vehicle.id;
    state->depart(vehicle, waited_s);
  }

  [[nodiscard]] bool is_cv(const std::string& name, const std::string& type) const {
    if (options.cv_share > 0) {
      // Drawn by name, not by order of departure, so that the same vehicles are connected with and
      // without control.
      Rng rng(derive_seed(seed, {kConnectedStream, xxh3_64(name)}));
      return rng.uniform() < options.cv_share;
    }
    return contains(options.cv_types, type);
  }

  void read(Vehicle& vehicle) {
    const Motion motion = simulator->motion(vehicle.id, names[vehicle.id]);
    vehicle.lane = motion.lane;
    vehicle.lane_pos_m = motion.lane_pos_m;
    vehicle.speed_mps = motion.speed_mps;
    vehicle.time_loss_s = motion.time_loss_s;
    // Vehicles enter at the end of a step, in which SUMO's emission device counts nothing for them.
    if (!vehicle.fresh) {
      vehicle.step_emissions = motion.emissions;
      vehicle.step_driven_m = motion.lane >= 0 ? motion.speed_mps * state->step_length_s() : 0.0;
    }
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
    const int index = simulator->route_index(name) + (inside ? 1 : 0);
    if (!passes(index)) {  // SUMO may have given it another route
      if (const auto* plan = plan_of(name)) vehicle.plan = plan;
    }
    if (passes(index))
      vehicle.route_index = index;
    else
      vehicle.lane = -1;
  }

  void note_waiting(const SimulatorEvents& happened, scene::StepEvents& events) {
    const double now = simulator->time_s();
    for (const auto& name : happened.waiting) {
      Pending& vehicle = pending_vehicle(name);
      const double delay_s = now - vehicle.wished_s;
      events.waiting.push_back({vehicle.plan, delay_s - vehicle.counted_s, vehicle.idle_per_s});
      vehicle.counted_s = delay_s;
    }
    // Vehicles that neither entered nor wait any more were discarded by SUMO.
    events.discarded = static_cast<int>(
        std::erase_if(pending, [&](const auto& one) { return one.second.seen_s < now; }));
  }

  /// Counts pairs that have begun to collide. SUMO lists a pair in every step in which it overlaps.
  void note_collisions(const SimulatorEvents& happened, scene::StepEvents& events) {
    const std::set<std::pair<std::string, std::string>> now(happened.colliding.begin(),
                                                            happened.colliding.end());
    for (const auto& pair : now) events.collisions += colliding.count(pair) > 0 ? 0 : 1;
    colliding = now;
  }

  EnvOptions options;
  std::filesystem::path scenario;
  std::unique_ptr<Simulator> simulator;
  LibsumoSimulator* own = nullptr;  ///< the simulator, unless somebody else has started it
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
  int emergency_brakes = 0;                            ///< SUMO's count after the last step
  int teleports = 0;                                   ///< SUMO's count after the last step
  std::vector<std::string> names;                      ///< [vehicle ids]
  std::unordered_map<std::string, std::uint32_t> ids;  ///< vehicles that have not left, by name
  std::unordered_map<std::string, Pending> pending;    ///< by name
  std::vector<std::uint32_t> teleported;               ///< ids, in the last step
  std::set<std::pair<std::string, std::string>> colliding;  ///< colliding pairs in the last step
};

SumoEnv::SumoEnv(const EnvOptions& options, Start start)
    : impl_(std::make_unique<Impl>(options, start)) {}
SumoEnv::SumoEnv(const EnvOptions& options, std::unique_ptr<Simulator> running,
                 const std::string& network_file)
    : impl_(std::make_unique<Impl>(options, std::move(running))) {
  impl_->join(network_file);
}
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
                "lights got commands before take_signals() was called");
  impl_->signal_book.add(commands);
}
void SumoEnv::set_speed_limit(int edge, double limit_mps) {
  const auto& edges = impl_->road->edges;
  TRAFFIC_CHECK(edge >= 0 && edge < static_cast<int>(edges.size()),
                "there is no edge {}: the network has {} edges", edge, edges.size());
  TRAFFIC_CHECK(limit_mps > 0.0 && std::isfinite(limit_mps),
                "a speed limit of {} m/s, expected a finite number above 0", limit_mps);
  impl_->simulator->set_speed_limit(edges[static_cast<std::size_t>(edge)].id, limit_mps);
}
const scene::SignalView& SumoEnv::signals() const {
  TRAFFIC_CHECK(impl_->signal_view.has_value(), "signals() was called before take_signals()");
  return *impl_->signal_view;
}
void SumoEnv::step() { impl_->step(); }
bool SumoEnv::done() const {
  const auto& state = *impl_->state;
  constexpr double kRounding_s = 1e-6;  // step times are sums of step lengths
  if (impl_->own == nullptr && impl_->simulator->end_s() >= 0.0) {
    return state.time_s() + impl_->begin_s >= impl_->simulator->end_s() - kRounding_s;
  }
  if (impl_->own != nullptr && state.end_s() > 0) {
    return state.time_s() >= state.end_s() - kRounding_s;
  }
  // Other programs may add the first vehicles of a simulation that they have started.
  const bool may_begin = impl_->own == nullptr && state.score().departed == 0;
  return !may_begin && impl_->simulator->vehicles_expected() == 0;
}
void SumoEnv::hand_back() {
  impl_->hand_back();
  impl_->frame_valid = false;
}

const scene::GraphFrame& SumoEnv::frame() {
  if (!impl_->frame_valid) impl_->frame = &impl_->frames.build(*impl_->state);
  impl_->frame_valid = true;
  return *impl_->frame;
}
const scene::RoadState& SumoEnv::state() const { return *impl_->state; }
std::span<const std::uint32_t> SumoEnv::teleported() const { return impl_->teleported; }
const scene::Road& SumoEnv::road() const { return *impl_->road; }
const scene::EpisodeScore& SumoEnv::score() const { return std::as_const(*impl_->state).score(); }
double SumoEnv::time_s() const { return impl_->state->time_s(); }
double SumoEnv::step_length_s() const { return impl_->state->step_length_s(); }
const std::filesystem::path& SumoEnv::scenario() const { return impl_->scenario; }
std::int64_t SumoEnv::steps() const { return impl_->steps; }
std::uint64_t SumoEnv::seed() const { return impl_->seed; }
const std::string& SumoEnv::name_of(std::uint32_t vehicle_id) const {
  TRAFFIC_CHECK(vehicle_id < impl_->names.size(),
                "there is no vehicle {}: {} vehicles have departed", vehicle_id,
                impl_->names.size());
  return impl_->names[vehicle_id];
}

std::string sumo_version() { return libsumo::Simulation::getVersion().second; }

}  // namespace traffic::sim
