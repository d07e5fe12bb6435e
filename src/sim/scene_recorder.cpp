// Lets SUMO simulate traffic, and records the scenes from which a driving policy learns.
#include "traffic/sim/scene_recorder.h"

#include <libsumo/Simulation.h>
#include <libsumo/TrafficLight.h>
#include <libsumo/Vehicle.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "stderr_capture.h"
#include "sumo_session.h"
#include "traffic/core/error.h"
#include "traffic/driving/geometry.h"
#include "traffic/sim/scenario.h"
#include "vehicle_handle.h"

namespace traffic::sim {
namespace {

using libsumo::Simulation;
using libsumo::TrafficLight;
using SumoCar = libsumo::Vehicle;

/// SUMO's option that lets vehicles move sideways within their lanes. Its value is the width of the
/// strips into which SUMO divides a lane.
constexpr const char* kLateralOption = "lateral-resolution";
constexpr const char* kLateralStrip_m = "0.8";

/// Consecutive numbers that are given to names.
using Numbers = std::unordered_map<std::string, std::int32_t>;

Numbers numbers_of(const std::vector<std::string>& names) {
  Numbers numbers;
  for (const auto& name : names) numbers.emplace(name, static_cast<std::int32_t>(numbers.size()));
  return numbers;
}

std::int32_t number_or_none(const Numbers& numbers, const std::string& name) {
  const auto found = numbers.find(name);
  return found != numbers.end() ? found->second : -1;
}

/// The position of a vehicle's centre. SUMO gives the middle of its front bumper, and degrees
/// clockwise from north.
driving::Pose centre(const libsumo::TraCIPosition& front, double degrees, double length_m) {
  const double heading = driving::wrapped_rad((90.0 - degrees) * std::numbers::pi / 180.0);
  return {front.x - 0.5 * length_m * std::cos(heading),
          front.y - 0.5 * length_m * std::sin(heading), heading};
}

}  // namespace

struct SceneRecorder::Impl {
  explicit Impl(const EnvOptions& env_options)
      : options(env_options), scenario(find_scenario(env_options.scenario)) {}

  void begin(std::uint64_t seed) {
    session.load({.sumocfg = scenario,
                  .seed = seed,
                  .args = options.sumo_args,
                  .demand_factor = options.demand_factor,
                  .settings = {{"step-length", fmt::format("{}", kSceneStep_s)},
                               {kLateralOption, kLateralStrip_m},
                               {"lanechange.duration", "0"}}});
    begin_s = Simulation::getTime();
    end_s = options.max_time_s > 0 ? begin_s + options.max_time_s : Simulation::getEndTime();
    read_map(Simulation::getOption("net-file"));
    scene = {};
    scene.map = map;
    scene.seed = seed;
    scene.route_begin.push_back(0);
    scene.node_begin.push_back(0);
    cars.clear();
    routes.clear();
  }

  void read_map(const std::string& file) {
    if (map && file == net_file) return;
    map = std::make_shared<driving::RoadMap>(driving::read_road_map(file));
    net_file = file;
    lanes = numbers_of(map->lanes);
    edges = numbers_of(map->edges);
  }

  void advance() {
    try {
      for (int step = 0; step < kStepsPerFrame; ++step) {
        Simulation::step();
        // A policy must not learn from the jump, so the vehicle counts as a new one.
        for (const auto& name : Simulation::getEndingTeleportIDList()) cars.erase(name);
      }
      record();
    } catch (const Error&) {
      throw;
    } catch (const std::exception& e) {  // SUMO also throws types that its headers do not show
      const auto at_s = static_cast<double>(scene.num_frames()) * driving::kFrame_s;
      session.close();
      throw DataError("simulation {} failed after {:g} s: {}", scenario.string(), at_s,
                      one_line(e.what()));
    }
  }

  void record() {
    const std::size_t first = scene.nodes.size();
    for (const auto& name : SumoCar::getIDList()) {
      if (VehicleHandle(name).lane() != nullptr) record(name);
    }
    std::sort(scene.nodes.begin() + static_cast<std::ptrdiff_t>(first), scene.nodes.end(),
              [](const auto& a, const auto& b) { return a.vehicle < b.vehicle; });
    scene.node_begin.push_back(static_cast<std::int64_t>(scene.nodes.size()));
    // A sum of steps would drift away from the multiples of the frame's length.
    scene.time_s.push_back(static_cast<double>(scene.time_s.size() + 1) * driving::kFrame_s);
    record_signals();
  }

  struct Car {
    std::int32_t number = 0;
    double length_m = 0;
    std::string route_id;
    std::int32_t route = -1;
  };

  void record(const std::string& name) {
    Car& car = car_of(name);
    if (std::string id = SumoCar::getRouteID(name); id != car.route_id) {
      car.route_id = std::move(id);
      car.route = route_of(name, car.route_id);
    }
    const driving::Pose pose =
        centre(SumoCar::getPosition(name), SumoCar::getAngle(name), car.length_m);
    scene.nodes.push_back({.vehicle = car.number,
                           .x_m = static_cast<float>(pose.x_m),
                           .y_m = static_cast<float>(pose.y_m),
                           .heading_rad = static_cast<float>(pose.heading_rad),
                           .speed_mps = static_cast<float>(SumoCar::getSpeed(name)),
                           .lane = number_or_none(lanes, SumoCar::getLaneID(name)),
                           .route = car.route});
  }

  Car& car_of(const std::string& name) {
    const auto [entry, is_new] = cars.try_emplace(name);
    Car& car = entry->second;
    if (is_new) {
      car.number = static_cast<std::int32_t>(scene.vehicles.size());
      car.length_m = SumoCar::getLength(name);
      scene.vehicles.push_back({.type = SumoCar::getTypeID(name),
                                .length_m = static_cast<float>(car.length_m),
                                .width_m = static_cast<float>(SumoCar::getWidth(name))});
    }
    return car;
  }

  /// @return the number of the route in the scene
  std::int32_t route_of(const std::string& name, const std::string& id) {
    const auto [entry, is_new] =
        routes.try_emplace(id, static_cast<std::int32_t>(scene.route_begin.size() - 1));
    if (is_new) {
      for (const auto& edge : SumoCar::getRoute(name)) {
        const std::int32_t number = number_or_none(edges, edge);
        if (number >= 0) scene.route_edges.push_back(number);  // the map only has edges for cars
      }
      scene.route_begin.push_back(static_cast<std::int64_t>(scene.route_edges.size()));
    }
    return entry->second;
  }

  void record_signals() {
    std::unordered_map<std::string, std::string> states;
    for (const auto& signal : map->signals) {
      const auto [entry, is_new] = states.try_emplace(signal.light);
      if (is_new) entry->second = TrafficLight::getRedYellowGreenState(signal.light);
      const auto index = static_cast<std::size_t>(signal.index);
      // A network may give a link a position that its light's program does not have. Such a link
      // counts as switched off.
      const char letter = index < entry->second.size() ? entry->second[index] : 'O';
      scene.signals.push_back(static_cast<std::uint8_t>(letter));
    }
  }

  [[nodiscard]] bool done() const {
    // SUMO's end is negative if the scenario has none. SUMO rounds times to milliseconds.
    if (end_s > begin_s) return Simulation::getTime() >= end_s - 0.5e-3;
    return Simulation::getMinExpectedNumber() == 0;
  }

  EnvOptions options;
  std::filesystem::path scenario;
  SumoSession session;
  double begin_s = 0;
  double end_s = 0;
  std::string net_file;
  std::shared_ptr<const driving::RoadMap> map;
  Numbers lanes;
  Numbers edges;
  driving::RecordedScene scene;
  std::unordered_map<std::string, Car> cars;
  Numbers routes;  ///< by SUMO's id of the route
};

SceneRecorder::SceneRecorder(const EnvOptions& options) : impl_(std::make_unique<Impl>(options)) {}
SceneRecorder::~SceneRecorder() = default;

void SceneRecorder::set_demand_factor(double factor) { impl_->options.demand_factor = factor; }
void SceneRecorder::begin(std::uint64_t seed) { impl_->begin(seed); }
void SceneRecorder::advance() { impl_->advance(); }
bool SceneRecorder::done() const { return impl_->done(); }
driving::RecordedScene SceneRecorder::take() { return std::exchange(impl_->scene, {}); }

}  // namespace traffic::sim
