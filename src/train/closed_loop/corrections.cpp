#include "closed_loop/corrections.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "driving/scene_batches.h"
#include "traffic/core/clock.h"
#include "traffic/core/version.h"
#include "traffic/data/scene_file.h"
#include "traffic/driving/geometry.h"

namespace traffic::train {
namespace {

driving::SceneNode node_of(std::int32_t vehicle, const driving::Box& box, std::int32_t route) {
  return {.vehicle = vehicle,
          .x_m = static_cast<float>(box.pose.x_m),
          .y_m = static_cast<float>(box.pose.y_m),
          .heading_rad = static_cast<float>(driving::wrapped_rad(box.pose.heading_rad)),
          .speed_mps = box.speed_mps,
          .lane = -1,
          .route = route};
}

/// The vehicle at each point of a plan. If it moves, it heads in the direction of its movement.
std::array<driving::Box, driving::kPlanPoints> boxes_on(const driving::Plan& plan,
                                                        const driving::Box& start) {
  constexpr double kMoves_m = 0.2;
  std::array<driving::Box, driving::kPlanPoints> boxes;
  driving::Box box = start;
  for (std::size_t i = 0; i < driving::kPlanPoints; ++i) {
    const driving::Point at = driving::from_frame(start.pose, plan.points[i]);
    const double dx = at.x_m - box.pose.x_m, dy = at.y_m - box.pose.y_m;
    const double moved_m = std::hypot(dx, dy);
    if (moved_m > kMoves_m) box.pose.heading_rad = std::atan2(dy, dx);
    box.pose.x_m = at.x_m;
    box.pose.y_m = at.y_m;
    box.speed_mps = static_cast<float>(moved_m / driving::kFrame_s);
    boxes[i] = box;
  }
  return boxes;
}

}  // namespace

std::int32_t Corrections::vehicle_of(const sim::DrivenVehicle& seen) {
  const auto [at, is_new] =
      index_of_.emplace(seen.id, static_cast<std::int32_t>(scene_.vehicles.size()));
  if (is_new) scene_.vehicles.push_back({"", seen.box.length_m, seen.box.width_m});
  return at->second;
}

void Corrections::add_frame(std::vector<driving::SceneNode> nodes,
                            std::span<const std::uint8_t> signals) {
  std::ranges::sort(nodes, {}, &driving::SceneNode::vehicle);
  if (scene_.node_begin.empty()) scene_.node_begin.push_back(0);
  scene_.time_s.push_back(driving::kFrame_s * static_cast<double>(scene_.time_s.size()));
  scene_.nodes.insert(scene_.nodes.end(), nodes.begin(), nodes.end());
  scene_.node_begin.push_back(static_cast<std::int64_t>(scene_.nodes.size()));
  scene_.signals.insert(scene_.signals.end(), signals.begin(), signals.end());
}

void Corrections::add(sim::DrivingEnv& env, bool asks) {
  scene_.map = env.map();
  std::ranges::rotate(past_, past_.end() - 1);
  past_[0].assign(env.vehicles().begin(), env.vehicles().end());
  num_past_ = std::min(num_past_ + 1, past_.size());
  if (!asks || num_past_ < past_.size() || env.views().empty()) return;
  const std::vector<std::optional<driving::Plan>> plans = env.expert_plans();
  if (scene_.route_begin.empty()) scene_.route_begin.push_back(0);
  std::map<int, std::int32_t> route_of;  // index of the route of each ego
  for (std::size_t i = 0; i < plans.size(); ++i) {
    route_of[env.driven()[i]] = static_cast<std::int32_t>(scene_.route_begin.size()) - 1;
    const auto route = env.views()[i].route;
    scene_.route_edges.insert(scene_.route_edges.end(), route.begin(), route.end());
    scene_.route_begin.push_back(static_cast<std::int64_t>(scene_.route_edges.size()));
  }
  for (std::size_t t = past_.size(); t-- > 0;) {
    std::vector<driving::SceneNode> nodes;
    for (const sim::DrivenVehicle& seen : past_[t]) {
      const auto route = route_of.find(seen.ego);
      nodes.push_back(
          node_of(vehicle_of(seen), seen.box, route == route_of.end() ? -1 : route->second));
    }
    add_frame(std::move(nodes), env.signals());
  }
  std::array<std::vector<driving::SceneNode>, driving::kPlanPoints> future;
  for (const sim::DrivenVehicle& seen : past_[0]) {
    if (seen.ego < 0) continue;
    const auto at = std::ranges::find(env.driven(), seen.ego);
    if (at == env.driven().end()) continue;
    const auto& plan = plans[static_cast<std::size_t>(at - env.driven().begin())];
    if (!plan) continue;
    const auto boxes = boxes_on(*plan, seen.box);
    for (std::size_t i = 0; i < boxes.size(); ++i) {
      future[i].push_back(node_of(vehicle_of(seen), boxes[i], route_of.at(seen.ego)));
    }
  }
  for (auto& nodes : future) add_frame(std::move(nodes), env.signals());
}

void Corrections::save(const std::filesystem::path& file, const std::string& scenario) const {
  data::SceneFileInfo info;
  info.scenario = scenario;
  info.source = driving_policy::kCorrections;
  info.program_version = version();
  info.created_utc = utc_timestamp();
  data::SceneWriter writer(file, info);
  writer.add(scene_, {});
  writer.finish();
}

}  // namespace traffic::train
