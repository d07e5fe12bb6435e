// Counts the vehicles before, inside and behind the junctions of traffic lights.
#include "traffic/scene/signal_view.h"

#include <algorithm>
#include <cmath>

#include "index.h"

namespace traffic::scene {
namespace {

constexpr double kArrival_s = 3.0;  // time to the stop line within which a vehicle counts as coming
constexpr double kAtLine_m = 10.0;  // distance within which any vehicle counts as coming
/// Length of the first part of the next lane, for which room_behind is computed. A few vehicles fit
/// there. If it is full, vehicles with green stop inside the junction.
constexpr double kRoom_m = 30.0;
constexpr double kNoLine_m = 1e9;  // stands for a lane without slow vehicles

bool drives_now(const RoadState& state, int light, int link) {
  const std::string& shown = at(state.lights(), light).state;
  return static_cast<std::size_t>(link) < shown.size() &&
         may_drive(shown[static_cast<std::size_t>(link)]);
}

}  // namespace

SignalView::SignalView(const Road& road) : road_(road) {
  find_links();
  find_backlogs();
  reset();
}

void SignalView::find_links() {
  places_.resize(road_.lights.size());
  light_inside_.assign(road_.lanes.size(), -1);
  for (std::size_t lane = 0; lane < road_.lanes.size(); ++lane) {
    for (const Link& link : road_.lanes[lane].links) {
      if (link.light < 0) continue;
      for (int via = link.via_lane; via >= 0;) {
        at(light_inside_, via) = link.light;
        const Lane& inner = at(road_.lanes, via);
        via = inner.links.empty() ? -1 : inner.links.front().via_lane;
      }
      if (road_.edges[static_cast<std::size_t>(road_.lanes[lane].edge)].internal) continue;
      auto& places = at(places_, link.light);
      const auto index = static_cast<std::size_t>(link.light_link);
      if (places.size() <= index) places.resize(index + 1);
      places[index] = {.from_lane = static_cast<int>(lane), .to_lane = link.to_lane};
    }
  }
}

/// Finds approaches with a light at the stop line. Vehicles that wait to enter towards them count
/// as waiting for that light.
void SignalView::find_backlogs() {
  for (std::size_t c = 0; c < road_.conflicts.size(); ++c) {
    const auto& approaches = road_.conflicts[c].approaches;
    for (std::size_t a = 0; a < approaches.size(); ++a) {
      for (const int lane : approaches[a].lanes) {
        const auto& links = at(road_.lanes, lane).links;
        if (links.empty() || links.front().light < 0) continue;
        backlogs_.push_back({static_cast<int>(c), static_cast<int>(a), links.front().light});
        break;
      }
    }
  }
}

void SignalView::reset() {
  stood_s_.clear();
  stood_inside_.clear();
  lights_.resize(places_.size());
  for (std::size_t i = 0; i < lights_.size(); ++i) {
    lights_[i] = {};
    lights_[i].links.resize(places_[i].size());
  }
}

SignalView::Ahead SignalView::find_ahead(const RoutePlan& plan, std::size_t edge) const {
  const Edge& here = at(road_.edges, plan.edges[edge]);
  for (int lane = here.first_lane; lane < here.first_lane + here.num_lanes; ++lane) {
    const Link* link = road_.link_to(lane, plan.edges[edge + 1]);
    if (link == nullptr || link->light < 0) continue;
    return {.light = link->light,
            .link = link->light_link,
            .edge = edge,
            .line_m = plan.start_m[edge] + here.length_m};
  }
  return {};
}

const std::vector<SignalView::Ahead>& SignalView::ahead_of(const RoutePlan& plan) {
  auto& known = ahead_[&plan];
  if (!known.empty()) return known;
  known.resize(plan.edges.size());
  for (std::size_t edge = plan.edges.size() - 1; edge-- > 0;) {
    known[edge] = find_ahead(plan, edge);
    if (known[edge].light < 0) known[edge] = known[edge + 1];
  }
  return known;
}

SignalLinkState& SignalView::link_of(const Ahead& ahead) {
  return at(at(lights_, ahead.light).links, ahead.link);
}

void SignalView::count(const Vehicle& v, const RoadState& state) {
  const double step_s = state.step_length_s();
  const double loss = v.step_loss_s / step_s;
  const bool stands = v.speed_mps < kStandingMps;
  if (stood_s_.size() <= v.id) stood_s_.resize(v.id + 1, 0.0F);
  float& stood_s = stood_s_[v.id];
  stood_s = stands ? stood_s + static_cast<float>(step_s) : 0.0F;
  count_inside(v);
  const auto index = static_cast<std::size_t>(v.route_index);
  const std::vector<Ahead>& ahead = ahead_of(*v.plan);
  const Ahead& next = ahead[index];
  if (next.light < 0) return;
  const double at_m = v.plan->start_m[index] + v.edge_pos_m;
  const double line_m = next.line_m - at_m;
  if (line_m > kSignalReachM) {
    if (line_m <= kArrivingReachM) ++link_of(next).arriving;
    return;
  }
  int at_link = next.link;
  const Lane& lane = at(road_.lanes, v.lane);
  if (next.edge == index && lane.exit_lane < 0) {  // on the last edge the lane determines the link
    const Link* own = road_.link_to(v.lane, v.plan->edges[index + 1]);
    if (own != nullptr && own->light == next.light) {
      at_link = own->light_link;
    }
  }
  SignalLightState& light = at(lights_, next.light);
  SignalLinkState& link = at(light.links, at_link);
  ++link.vehicles;
  if (v.speed_mps < kSignalQueueMps) ++link.queue;
  if (line_m <= kNearSignalM) ++link.near;
  if (line_m <= kCloseSignalM) ++link.close;
  if (line_m <= std::max(kAtLine_m, kArrival_s * v.speed_mps)) ++link.coming;
  link.wait_s += static_cast<double>(stood_s);
  link.longest_wait_s = std::max(link.longest_wait_s, static_cast<double>(stood_s));
  link.loss += loss;
  light.lost_s += loss * step_s;
  light.emissions += v.step_emissions;
  light.driven_m += v.step_driven_m;
  const Ahead& after = ahead[next.edge + 1];
  if (after.light < 0 || after.line_m - at_m > kArrivingReachM) return;
  if (drives_now(state, next.light, at_link)) ++link_of(after).arriving;
  if (!drives_now(state, after.light, after.link)) ++link.held_next;
}

void SignalView::count_inside(const Vehicle& v) {
  if (stood_inside_.size() <= v.id) stood_inside_.resize(v.id + 1, 0);
  char& stood = stood_inside_[v.id];
  const int inside = at(light_inside_, v.lane);
  const bool stands = v.speed_mps < kSignalQueueMps;
  stood = inside >= 0 && (stands || stood != 0) ? 1 : 0;
  if (inside < 0) return;
  if (stands)
    ++at(lights_, inside).inside;
  else if (stood != 0 && v.speed_mps < kDrivingOutMps)
    ++at(lights_, inside).leaving;
}

void SignalView::look_behind(const RoadState& state) {
  for (std::size_t i = 0; i < lights_.size(); ++i) {
    for (std::size_t k = 0; k < places_[i].size(); ++k) {
      const int lane = places_[i][k].to_lane;
      if (lane < 0) continue;
      SignalLinkState& link = lights_[i].links[k];
      double last_m = kNoLine_m;  // rear end of the last slow vehicle on the lane
      for (const std::int32_t index : state.lane_order().on(lane)) {
        const Vehicle& v = state.vehicles()[static_cast<std::size_t>(index)];
        if (v.lane_pos_m > kSignalReachM) break;
        if (v.speed_mps >= kSignalQueueMps) continue;
        last_m = std::min(last_m, v.lane_pos_m - v.length_m);
        ++link.queue_behind;
      }
      link.room_behind = std::clamp(last_m / kRoom_m, 0.0, 1.0);
    }
  }
}

void SignalView::update(const RoadState& state, const SignalBook& book) {
  book_ = &book;
  for (SignalLightState& light : lights_) {
    std::fill(light.links.begin(), light.links.end(), SignalLinkState{});
    light.vehicles = light.queue = light.inside = light.leaving = 0;
    light.loss = light.lost_s = light.driven_m = 0;
    light.emissions = {};
  }
  for (const Vehicle& v : state.vehicles()) count(v, state);
  for (const Backlog& place : backlogs_) {
    const ApproachState& approach =
        at(at(state.conflicts(), place.conflict).approaches, place.approach);
    SignalLightState& light = at(lights_, place.light);
    light.lost_s += approach.backlog * state.step_length_s();
    light.emissions += state.step_length_s() * approach.backlog_per_s;
  }
  look_behind(state);
  for (SignalLightState& light : lights_) {
    for (const SignalLinkState& link : light.links) {
      light.vehicles += link.vehicles;
      light.queue += link.queue;
      light.loss += link.loss;
    }
  }
}

}  // namespace traffic::scene
