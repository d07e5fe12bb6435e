// Takes training examples for driving policies from recorded traffic (examples.h).
#include "traffic/driving/examples.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "traffic/core/error.h"
#include "traffic/driving/geometry.h"

namespace traffic::driving {
namespace {

/// Examples contain the vehicles within this distance of the ego, the vehicle that is driven. The
/// image that a policy sees ends 80 m ahead of the ego and 32 m beside it.
constexpr double kSight_m = 90.0;

/// Writes the edges of the vehicle's route, from its present edge on, to `out`.
void find_route(const SceneTracks& tracks, const SceneNode& node, std::vector<std::int32_t>& out) {
  out.clear();
  const RecordedScene& scene = tracks.scene();
  if (node.route < 0) return;
  const auto route = scene.route(static_cast<std::size_t>(node.route));
  std::int32_t lane = node.lane;
  if (lane >= 0) {
    const std::int32_t over = tracks.map().link_over(lane);
    if (over >= 0) lane = scene.map->links[static_cast<std::size_t>(over)].from_lane;
  }
  auto at = route.begin();
  if (lane >= 0) {
    at = std::find(route.begin(), route.end(), scene.map->edge[static_cast<std::size_t>(lane)]);
    if (at == route.end()) at = route.begin();
  }
  out.assign(at, route.end());
}

/// Cubic Hermite polynomials for the way of a perturbed vehicle back to its recorded way. `s` is
/// the share of the way back that the vehicle has driven. left_of_offset() is the share of the
/// initial offset that is left. left_of_slope() is the offset that an initial slope of 1 causes.
double left_of_offset(double s) { return s >= 1.0 ? 0.0 : (1.0 + 2.0 * s) * (1.0 - s) * (1.0 - s); }
double left_of_slope(double s) { return s >= 1.0 ? 0.0 : s * (1.0 - s) * (1.0 - s); }

}  // namespace

SceneTracks::SceneTracks(RecordedScene scene, ExampleRule rule)
    : scene_(std::move(scene)), map_(scene_.map) {
  const auto frames = static_cast<std::int64_t>(scene_.num_frames());
  const auto horizon = static_cast<std::int64_t>(kPlanPoints);
  // [vehicles] number of consecutive frames after frame f that contain the vehicle
  std::vector<std::int64_t> run(scene_.vehicles.size(), 0);
  std::vector<std::int64_t> next(scene_.vehicles.size(), -1);
  for (std::int64_t f = frames - 1; f >= 0; --f) {
    for (const SceneNode& node : scene_.frame(static_cast<std::size_t>(f))) {
      const auto v = static_cast<std::size_t>(node.vehicle);
      run[v] = next[v] == f + 1 ? run[v] + 1 : 0;
      next[v] = f;
      constexpr auto kRun = static_cast<std::int64_t>(kHistory + kPlanPoints);
      if (rule == ExampleRule::kCorrections && f % kRun + 1 != std::int64_t{kHistory}) continue;
      if (run[v] >= horizon) places_.push_back({static_cast<std::int32_t>(f), node.vehicle});
    }
  }
  std::reverse(places_.begin(), places_.end());
}

const SceneNode* SceneTracks::find(std::int64_t frame, std::int32_t vehicle) const {
  if (frame < 0 || frame >= static_cast<std::int64_t>(scene_.num_frames())) return nullptr;
  const auto nodes = scene_.frame(static_cast<std::size_t>(frame));
  const auto at = std::lower_bound(
      nodes.begin(), nodes.end(), vehicle,
      [](const SceneNode& node, std::int32_t wanted) { return node.vehicle < wanted; });
  return at != nodes.end() && at->vehicle == vehicle ? &*at : nullptr;
}

Box SceneTracks::box_of(const SceneNode& node) const {
  const SceneVehicle& vehicle = scene_.vehicles[static_cast<std::size_t>(node.vehicle)];
  return {.pose = {node.x_m, node.y_m, node.heading_rad},
          .length_m = vehicle.length_m,
          .width_m = vehicle.width_m,
          .speed_mps = node.speed_mps};
}

std::int64_t SceneTracks::num_bytes() const {
  return static_cast<std::int64_t>(scene_.nodes.size() * sizeof(SceneNode) +
                                   places_.size() * sizeof(ExamplePlace) + scene_.signals.size() +
                                   3 * scene_.map->points.size() * sizeof(Point));
}

void make_example(const SceneTracks& tracks, const ExamplePlace& place,
                  const Perturbation& perturbation, Example& example) {
  const RecordedScene& scene = tracks.scene();
  const SceneNode* ego = tracks.find(place.frame, place.vehicle);
  TRAFFIC_CHECK(ego != nullptr, "vehicle {} is not in frame {}", place.vehicle, place.frame);
  View& view = example.view;
  example.vehicle = place.vehicle;
  view.map = scene.map.get();
  std::int64_t oldest = place.frame;
  for (std::size_t t = 0; t < kHistory; ++t) {
    const std::int64_t frame = place.frame - static_cast<std::int64_t>(t);
    if (tracks.find(frame, place.vehicle) != nullptr) oldest = frame;
    // If the vehicle is missing in an earlier frame, repeats the oldest frame that contains it.
    const std::int64_t shown = std::max(frame, oldest);
    view.ego[t] = tracks.box_of(*tracks.find(shown, place.vehicle));
    example.others[t].clear();
    for (const SceneNode& node : scene.frame(static_cast<std::size_t>(shown))) {
      if (node.vehicle == place.vehicle) continue;
      if (std::abs(node.x_m - ego->x_m) > kSight_m || std::abs(node.y_m - ego->y_m) > kSight_m) {
        continue;
      }
      example.others[t].push_back(tracks.box_of(node));
    }
    view.others[t] = example.others[t];
  }
  find_route(tracks, *ego, example.route);
  view.route = example.route;
  view.signals = std::span(scene.signals)
                     .subspan(static_cast<std::size_t>(place.frame) * scene.map->signals.size(),
                              scene.map->signals.size());

  // A perturbation moves the ego aside. Its offset is smaller in earlier frames of the history, and
  // shrinks along the way in the future.
  for (std::size_t t = 0; t < kHistory; ++t) {
    const double share = 1.0 - static_cast<double>(t) / static_cast<double>(kHistory);
    Box& box = view.ego[t];
    const double heading = box.pose.heading_rad;
    box.pose.x_m -= share * perturbation.aside_m * std::sin(heading);
    box.pose.y_m += share * perturbation.aside_m * std::cos(heading);
    box.pose.heading_rad = wrapped_rad(heading + share * perturbation.heading_rad);
    box.speed_mps =
        std::max(0.0F, box.speed_mps + static_cast<float>(share) * perturbation.speed_mps);
  }
  const double added_mps = view.ego[0].speed_mps - ego->speed_mps;
  constexpr double kReturn_s = 2.0;
  double travelled_m = 0.0;
  std::array<SceneNode, kPlanPoints> future;
  const SceneNode* before = ego;
  for (std::size_t i = 0; i < kPlanPoints; ++i) {
    const SceneNode* node =
        tracks.find(place.frame + static_cast<std::int64_t>(i) + 1, place.vehicle);
    TRAFFIC_CHECK(node != nullptr, "vehicle {} leaves the scene before the end of the plan",
                  place.vehicle);
    future[i] = *node;
    travelled_m += std::hypot(node->x_m - before->x_m, node->y_m - before->y_m);
    before = node;
  }
  // The offset shrinks with the distance driven, not with time: a standing vehicle cannot move
  // sideways.
  const double mean_mps = travelled_m / (kFrame_s * static_cast<double>(kPlanPoints));
  const double return_m = std::max(5.0, kReturn_s * mean_mps);
  double way_m = 0.0;
  before = ego;
  for (std::size_t i = 0; i < kPlanPoints; ++i) {
    const SceneNode& node = future[i];
    way_m += std::hypot(node.x_m - before->x_m, node.y_m - before->y_m);
    before = &future[i];
    const double s = way_m / return_m;
    const double aside = perturbation.aside_m * left_of_offset(s) +
                         std::tan(perturbation.heading_rad) * return_m * left_of_slope(s);
    const double seconds = kFrame_s * static_cast<double>(i + 1);
    const double along = added_mps * kReturn_s * left_of_slope(seconds / kReturn_s);
    const double c = std::cos(node.heading_rad), n = std::sin(node.heading_rad);
    example.target.points[i] = to_frame(view.ego[0].pose, node.x_m + along * c - aside * n,
                                        node.y_m + along * n + aside * c);
  }
}

}  // namespace traffic::driving
