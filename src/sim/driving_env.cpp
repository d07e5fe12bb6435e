// A SUMO simulation in which drivers outside SUMO move some vehicles, the egos. A view is what an
// ego sees of the traffic around it.
#include "traffic/sim/driving_env.h"

#include <libsumo/Simulation.h>
#include <libsumo/TrafficLight.h>
#include <libsumo/Vehicle.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <map>
#include <numbers>
#include <unordered_map>
#include <utility>

#include "stderr_capture.h"
#include "sumo_session.h"
#include "traffic/core/error.h"
#include "traffic/core/hash.h"
#include "traffic/driving/geometry.h"
#include "traffic/driving/motion.h"
#include "traffic/os/process_pool.h"
#include "traffic/sim/scenario.h"

namespace traffic::sim {
namespace {

using driving::Box;
using driving::kFrame_s;
using driving::kHistory;
using driving::kPlanPoints;
using libsumo::Simulation;
using libsumo::TrafficLight;
using SumoVehicle = libsumo::Vehicle;

constexpr double kStep_s = 0.1;
constexpr int kStepsEach = 5;  ///< steps between two frames, half a second
/// An ego that is farther than this from all lanes of its route has lost its way. SUMO itself
/// refuses positions that are more than 100 m from the route.
constexpr double kLost_m = 8.0;
/// An ego arrives when its front is this close to the end of its route.
constexpr double kArrived_m = 2.0;
/// A view contains the vehicles within this distance.
constexpr double kView_m = 100.0;
/// Argument keepRoute of SUMO's moveToXY. With 1 the vehicle stays on its route, and SUMO takes the
/// given pose as it is. Other vehicles see the ego on the nearest lane of the route, with the
/// lateral offset that still touches the lane. With 2 or 3 an ego beside its lane would be
/// invisible to them.
constexpr int kKeepRoute = 1;

double heading_of(double sumo_degrees) {
  return driving::wrapped_rad((90.0 - sumo_degrees) * std::numbers::pi / 180.0);
}

double sumo_degrees(double heading_rad) {
  const double degrees = 90.0 - heading_rad * 180.0 / std::numbers::pi;
  return degrees < 0.0 ? degrees + 360.0 : degrees;
}

/// Moves a pose ahead. To SUMO the position of a vehicle is that of its front bumper, to this
/// program that of its centre.
driving::Pose ahead_by(const driving::Pose& pose, double distance_m) {
  return {.x_m = pose.x_m + distance_m * std::cos(pose.heading_rad),
          .y_m = pose.y_m + distance_m * std::sin(pose.heading_rad),
          .heading_rad = pose.heading_rad};
}

/// A vehicle that has departed and not left. It may be off the road for a time.
struct Known {
  std::uint32_t id = 0;
  std::string name;
  int ego = -1;
  Box box;
  bool is_on_road = false;
};

struct Ego {
  std::uint32_t vehicle = 0;  ///< DrivenVehicle::id
  std::string name;
  driving::DriveMeter meter;
  std::optional<driving::PlanFollower> follower{};  ///< set once the ego follows plans
  bool is_driven = true;
  std::array<Box, kHistory> history{};              ///< the ego in the last frames, newest first
  std::array<std::vector<Box>, kHistory> others{};  ///< vehicles near it in these frames
};

using ExpertPoints = std::array<std::array<double, 2>, kPlanPoints>;

}  // namespace

struct DrivingEnv::Impl {
  Impl(const DrivingOptions& driving_options, std::uint64_t episode_seed)
      : options(driving_options), seed(episode_seed) {
    load();
    // The frames before the first decision are the egos' history.
    const double past_s = kFrame_s * static_cast<double>(kHistory - 1);
    const double alone_s = std::max(options.warm_up_s - past_s, kStep_s);
    while (Simulation::getTime() < begin_s + alone_s - 0.5 * kStep_s) {
      simulate();
      note_departures();
    }
    read_vehicles();
    choose_egos();
    keep_frame();
    for (std::size_t frame = 1; frame < kHistory; ++frame) run_frame({});
    begin_egos();
  }

  void load() {
    const std::filesystem::path scenario = find_scenario(options.scenario);
    session.load({.sumocfg = scenario,
                  .seed = seed,
                  .args = options.sumo_args,
                  .demand_factor = options.demand_factor,
                  .settings = {{"step-length", std::to_string(kStep_s)},
                               {"lateral-resolution", "0.8"},
                               {"collision.action", "none"}}});
    begin_s = Simulation::getTime();
    const std::string net_file = Simulation::getOption("net-file");
    map = std::make_shared<const driving::RoadMap>(driving::read_road_map(net_file));
    roads = std::make_unique<driving::RoadIndex>(map);
    for (std::size_t edge = 0; edge < map->edges.size(); ++edge) {
      edge_of[map->edges[edge]] = static_cast<std::int32_t>(edge);
    }
    signals.assign(map->signals.size(), 'O');
    for (std::size_t signal = 0; signal < map->signals.size(); ++signal) {
      heads[map->signals[signal].light].push_back(signal);
    }
    for (const std::string& name : SumoVehicle::getIDList()) add_vehicle(name);
  }

  void simulate() {
    try {
      Simulation::step();
    } catch (const std::exception& error) {
      const double at_s = Simulation::getTime() - begin_s;
      session.close();
      throw DataError("simulation {} failed after {:g} s: {}", options.scenario, at_s,
                      one_line(error.what()));
    }
  }

  // Vehicles.

  void add_vehicle(const std::string& name) {
    if (index_of.contains(name)) return;
    index_of[name] = known.size();
    known.push_back({.id = next_id++,
                     .name = name,
                     .box = {.pose = {},
                             .length_m = static_cast<float>(SumoVehicle::getLength(name)),
                             .width_m = static_cast<float>(SumoVehicle::getWidth(name))}});
  }

  void note_departures() {
    const auto left = Simulation::getArrivedIDList();
    for (const std::string& name : left) {
      const auto found = index_of.find(name);
      if (found == index_of.end()) continue;
      if (const int number = known[found->second].ego; number >= 0) arrive(number);
      forget(found->second);
    }
    for (const std::string& name : Simulation::getDepartedIDList()) {
      if (std::ranges::find(left, name) == left.end()) add_vehicle(name);
    }
  }

  void forget(std::size_t at) {
    index_of.erase(known[at].name);
    if (at + 1 < known.size()) {
      known[at] = std::move(known.back());
      index_of[known[at].name] = at;
    }
    known.pop_back();
  }

  void read_vehicles() {
    on_road.clear();
    for (Known& vehicle : known) {
      if (vehicle.ego >= 0 && ego(vehicle.ego).follower) {
        const driving::Motion& motion = ego(vehicle.ego).follower->motion();
        vehicle.box.pose = motion.pose;
        vehicle.box.speed_mps = static_cast<float>(motion.speed_mps);
        vehicle.is_on_road = true;
      } else {
        read(vehicle);
      }
      if (vehicle.is_on_road) {
        on_road.push_back({.id = vehicle.id, .ego = vehicle.ego, .box = vehicle.box});
      }
    }
  }

  static void read(Known& vehicle) {
    const libsumo::TraCIPosition front = SumoVehicle::getPosition(vehicle.name);
    vehicle.is_on_road = front.x > -1e8;  // SUMO's invalid number: the vehicle is off the road
    if (!vehicle.is_on_road) return;
    const double heading_rad = heading_of(SumoVehicle::getAngle(vehicle.name));
    vehicle.box.pose = ahead_by({.x_m = front.x, .y_m = front.y, .heading_rad = heading_rad},
                                -0.5 * vehicle.box.length_m);
    vehicle.box.speed_mps = static_cast<float>(SumoVehicle::getSpeed(vehicle.name));
  }

  void read_signals() {
    for (const auto& [light, numbers] : heads) {
      const std::string state = TrafficLight::getRedYellowGreenState(light);
      for (const std::size_t number : numbers) {
        const auto at = static_cast<std::size_t>(map->signals[number].index);
        if (at < state.size()) signals[number] = static_cast<std::uint8_t>(state[at]);
      }
    }
  }

  // Egos.

  Ego& ego(int number) { return egos[static_cast<std::size_t>(number)]; }
  Known& vehicle_of(const Ego& one) { return known[index_of.at(one.name)]; }

  /// Edges of a vehicle's route from its present edge on; empty if one of them is not in the map.
  std::vector<std::int32_t> route_ahead(const std::string& name) {
    std::vector<std::int32_t> route;
    const std::vector<std::string> edges = SumoVehicle::getRoute(name);
    const int first = SumoVehicle::getRouteIndex(name);
    for (auto i = static_cast<std::size_t>(std::max(first, 0)); i < edges.size(); ++i) {
      const auto found = edge_of.find(edges[i]);
      if (found == edge_of.end()) return {};
      route.push_back(found->second);
    }
    return route;
  }

  void choose_egos() {
    std::vector<std::pair<std::uint64_t, const Known*>> cars;
    for (const Known& vehicle : known) {
      if (!vehicle.is_on_road || SumoVehicle::getVehicleClass(vehicle.name) != "passenger")
        continue;
      cars.emplace_back(xxh3_64(fmt::format("{} {}", seed, vehicle.name)), &vehicle);
    }
    std::ranges::sort(cars, {},
                      [](const auto& car) { return std::pair(car.first, car.second->id); });
    egos.reserve(static_cast<std::size_t>(options.egos));
    for (const auto& [order, car] : cars) {
      if (std::ssize(egos) == options.egos) break;
      const auto route = route_ahead(car->name);
      if (route.empty()) continue;
      egos.push_back({.vehicle = car->id,
                      .name = car->name,
                      .meter = driving::DriveMeter(*roads, route, car->box)});
    }
    if (egos.empty()) {
      throw DataError(
          "scenario {}: no passenger car is on the road {:g} s after the begin of the simulation, "
          "so drivers have no car to take over; try a longer warm-up",
          options.scenario, options.warm_up_s);
    }
    for (std::size_t i = 0; i < egos.size(); ++i) vehicle_of(egos[i]).ego = static_cast<int>(i);
    for (Ego& one : egos) one.history.fill(vehicle_of(one).box);
    for (const Known& vehicle : known) {
      for (DrivenVehicle& shown : on_road) {
        if (shown.id == vehicle.id) shown.ego = vehicle.ego;
      }
    }
  }

  /// Begins the measurements. Leaves out egos that arrived during the frames of their history.
  void begin_egos() {
    std::vector<Ego> present;
    for (Ego& one : egos) {
      if (!one.is_driven) continue;
      const auto route = one.meter.route().ahead();
      const std::vector<std::int32_t> edges(route.begin(), route.end());
      Ego fresh{.vehicle = one.vehicle,
                .name = one.name,
                .meter = driving::DriveMeter(*roads, edges, one.history[0]),
                .history = one.history,
                .others = std::move(one.others)};
      vehicle_of(fresh).ego = static_cast<int>(present.size());
      present.push_back(std::move(fresh));
    }
    if (present.empty()) {
      throw DataError(
          "scenario {}: all cars chosen for the drivers have arrived within {:g} s after the begin "
          "of the simulation; try another seed",
          options.scenario, options.warm_up_s);
    }
    egos = std::move(present);
    start_s = Simulation::getTime();
    read_vehicles();
    show_views();
  }

  void arrive(int number) {
    Ego& one = ego(number);
    one.is_driven = false;
    one.meter.arrive();
  }

  /// Takes an ego out of the simulation because it has lost its way.
  void lose(Ego& one) {
    one.meter.lose();
    take_off(one);
  }

  void take_off(Ego& one) {
    one.is_driven = false;
    forget(index_of.at(one.name));
    SumoVehicle::remove(one.name);
  }

  /// Whether an ego that follows plans has reached the end of its route. SUMO does not notice this,
  /// because the vehicle is moved from outside.
  [[nodiscard]] bool is_at_end(const Ego& one) const {
    const driving::RouteTracker& route = one.meter.route();
    const driving::OnLane& place = route.place();
    if (!one.follower || route.ahead().size() > 1 ||
        map->edge[static_cast<std::size_t>(place.lane)] != route.ahead().front()) {
      return false;
    }
    const double front_m = place.along_m + 0.5 * one.history[0].length_m;
    return front_m > roads->length_m(place.lane) - kArrived_m;
  }

  /// Moves an ego along its plan and tells SUMO.
  void move(Ego& one) {
    one.follower->step(kStep_s);
    const driving::Pose& pose = one.follower->motion().pose;
    const driving::Pose front = ahead_by(pose, 0.5 * one.history[0].length_m);
    try {
      SumoVehicle::moveToXY(one.name, "", -1, front.x_m, front.y_m, sumo_degrees(pose.heading_rad),
                            kKeepRoute);
    } catch (const libsumo::TraCIException&) {  // no lane of its route is near
      lose(one);
    }
  }

  void measure(Ego& one) {
    const Box& box = vehicle_of(one).box;
    near.clear();
    for (const DrivenVehicle& other : on_road) {
      if (other.id == one.vehicle) continue;
      const double dx = other.box.pose.x_m - box.pose.x_m;
      const double dy = other.box.pose.y_m - box.pose.y_m;
      if (dx * dx + dy * dy > driving::DriveMeter::kReach_m * driving::DriveMeter::kReach_m)
        continue;
      near.push_back({.id = other.id, .box = other.box});
    }
    one.meter.step(kStep_s, box, near, signals);
    if (is_at_end(one)) {
      one.meter.arrive();
      take_off(one);
    } else if (one.meter.route().place().distance_m > kLost_m) {
      lose(one);
    }
  }

  /// Simulates half a second.
  /// @param plans a plan for each driven ego; empty: SUMO drives the egos
  void run_frame(std::span<const driving::Plan> plans) {
    if (!plans.empty()) {
      TRAFFIC_CHECK(plans.size() == driven.size(), "drive() got {} plans for {} egos on the road",
                    plans.size(), driven.size());
      for (std::size_t i = 0; i < plans.size(); ++i) {
        Ego& one = ego(driven[i]);
        if (!one.follower) one.follower.emplace(one.history[0]);
        one.follower->follow(plans[i]);
      }
    }
    for (int step = 0; step < kStepsEach; ++step) {
      if (!plans.empty()) {
        for (Ego& one : egos) {
          if (one.is_driven) move(one);
        }
      }
      simulate();
      note_departures();
      read_vehicles();
      read_signals();
      for (Ego& one : egos) {
        if (one.is_driven) measure(one);
      }
    }
    keep_frame();
    show_views();
  }

  /// Adds the present state to the histories of the egos.
  void keep_frame() {
    for (Ego& one : egos) {
      if (!one.is_driven) continue;
      for (std::size_t age = kHistory - 1; age > 0; --age) {
        one.history[age] = one.history[age - 1];
        std::swap(one.others[age], one.others[age - 1]);
      }
      one.history[0] = vehicle_of(one).box;
      one.others[0].clear();
      for (const DrivenVehicle& other : on_road) {
        const double dx = other.box.pose.x_m - one.history[0].pose.x_m;
        const double dy = other.box.pose.y_m - one.history[0].pose.y_m;
        if (other.id != one.vehicle && dx * dx + dy * dy < kView_m * kView_m) {
          one.others[0].push_back(other.box);
        }
      }
    }
  }

  /// Makes the views that the drivers of the egos get.
  void show_views() {
    views.clear();
    driven.clear();
    for (std::size_t i = 0; i < egos.size(); ++i) {
      const Ego& one = egos[i];
      if (!one.is_driven) continue;
      driving::View view{.map = map.get(),
                         .ego = one.history,
                         .others = {},
                         .route = one.meter.route().ahead(),
                         .signals = signals};
      for (std::size_t age = 0; age < kHistory; ++age) view.others[age] = one.others[age];
      views.push_back(view);
      driven.push_back(static_cast<int>(i));
    }
  }

  // SUMO's own driver.

  /// Simulates three seconds in which SUMO drives, in a copy of this process.
  int run_expert(const os::Messages& parent) {
    std::vector<ExpertPoints> points(driven.size());
    std::vector<std::uint8_t> is_known(driven.size(), 1);
    for (std::size_t p = 0; p < kPlanPoints; ++p) {
      for (int step = 0; step < kStepsEach; ++step) {
        Simulation::step();
        for (const std::string& name : Simulation::getArrivedIDList()) {
          for (std::size_t i = 0; i < driven.size(); ++i) {
            if (ego(driven[i]).name == name) is_known[i] = 0;
          }
        }
      }
      for (std::size_t i = 0; i < driven.size(); ++i) {
        if (is_known[i] == 0) continue;
        Known& vehicle = vehicle_of(ego(driven[i]));
        read(vehicle);
        points[i][p] = {vehicle.box.pose.x_m, vehicle.box.pose.y_m};
        if (!vehicle.is_on_road) is_known[i] = 0;
      }
    }
    std::string message(reinterpret_cast<const char*>(is_known.data()), is_known.size());
    message.append(reinterpret_cast<const char*>(points.data()),
                   points.size() * sizeof(ExpertPoints));
    return parent.send(message) ? 0 : 1;
  }

  std::vector<std::optional<driving::Plan>> expert_plans() {
    os::ProcessPool pool;
    pool.start([this](const os::Messages& parent) { return run_expert(parent); });
    std::string message;
    while (pool.size() > 0) {
      for (const os::ProcessPool::Event& event : pool.wait(-1.0)) {
        if (!event.exit) message = event.message;
        if (event.exit && !event.exit->well()) {
          throw WorkerError("the process that simulates SUMO's own driver {}",
                            event.exit->describe());
        }
      }
    }
    const std::size_t count = driven.size();
    TRAFFIC_CHECK(message.size() == count * (1 + sizeof(ExpertPoints)),
                  "the process that simulates SUMO's own driver sent {} bytes for {} egos",
                  message.size(), count);
    std::vector<std::optional<driving::Plan>> plans(count);
    for (std::size_t i = 0; i < count; ++i) {
      if (message[i] == 0) continue;
      ExpertPoints points;
      std::memcpy(&points, message.data() + count + i * sizeof(points), sizeof(points));
      plans[i].emplace();
      for (std::size_t p = 0; p < kPlanPoints; ++p) {
        plans[i]->points[p] =
            driving::to_frame(ego(driven[i]).history[0].pose, points[p][0], points[p][1]);
      }
    }
    return plans;
  }

  DrivingOptions options;
  std::uint64_t seed;
  SumoSession session;
  double begin_s = 0.0;  ///< SUMO's time
  double start_s = 0.0;  ///< SUMO's time at which the egos begin
  std::shared_ptr<const driving::RoadMap> map;
  std::unique_ptr<driving::RoadIndex> roads;
  std::unordered_map<std::string, std::int32_t> edge_of;
  std::map<std::string, std::vector<std::size_t>> heads;  ///< by light: indices into `signals`
  std::vector<std::uint8_t> signals;
  std::uint32_t next_id = 0;
  std::vector<Known> known;
  std::unordered_map<std::string, std::size_t> index_of;  ///< into known, by name
  std::vector<DrivenVehicle> on_road;
  std::vector<Ego> egos;
  std::vector<int> driven;
  std::vector<driving::View> views;
  std::vector<driving::Neighbour> near;
};

DrivingEnv::DrivingEnv(const DrivingOptions& options, std::uint64_t seed)
    : impl_(std::make_unique<Impl>(options, seed)) {}
DrivingEnv::~DrivingEnv() = default;

bool DrivingEnv::done() const {
  return impl_->driven.empty() || time_s() >= impl_->options.duration_s - 0.5 * kStep_s;
}
std::span<const driving::View> DrivingEnv::views() const { return impl_->views; }
std::span<const int> DrivingEnv::driven() const { return impl_->driven; }
void DrivingEnv::drive(std::span<const driving::Plan> plans) {
  TRAFFIC_CHECK(!plans.empty(), "drive() got no plans, or no ego is on the road");
  impl_->run_frame(plans);
}
void DrivingEnv::drive_by_sumo() { impl_->run_frame({}); }
std::vector<std::optional<driving::Plan>> DrivingEnv::expert_plans() {
  return impl_->expert_plans();
}
int DrivingEnv::num_egos() const { return static_cast<int>(impl_->egos.size()); }
const std::string& DrivingEnv::name_of(int ego) const { return impl_->ego(ego).name; }
const driving::DriveMeasures& DrivingEnv::measures(int ego) const {
  return impl_->ego(ego).meter.measures();
}
std::span<const DrivenVehicle> DrivingEnv::vehicles() const { return impl_->on_road; }
const std::shared_ptr<const driving::RoadMap>& DrivingEnv::map() const { return impl_->map; }
std::span<const std::uint8_t> DrivingEnv::signals() const { return impl_->signals; }
double DrivingEnv::time_s() const { return Simulation::getTime() - impl_->start_s; }

}  // namespace traffic::sim
