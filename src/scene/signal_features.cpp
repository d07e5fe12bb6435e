// Computes the features of each option of a light (a state that the light may show next).
// Controllers of lights observe these features.
#include <algorithm>
#include <array>
#include <cmath>

#include "index.h"
#include "traffic/scene/signal_view.h"

namespace traffic::scene {
namespace {

/// Names of the features, in the order in which append_features() writes them. Most are sums over
/// the links that have green in the option (SignalLinkState explains them). Of the others,
/// - "gains" counts vehicles that would get green, "loses" vehicles that would lose their green;
/// - "yielding_queue" is the queue on links whose green yields, "lanes" the number of lanes with
///   green, and "blocked" the number of vehicles without room on the lane behind the light;
/// - "green_s" and "red_s" tell for how long the light has shown, or has not shown, the option;
/// - "light_..." and "inside" describe the whole light;
/// - "left_s" and "longest_left_s" tell how long the present phase of a kept program will still
///   last and how long it may still last; they are 0 for all other options.
constexpr std::array<std::string_view, 26> kNames{
    "vehicles", "queue",          "wait",         "longest_wait", "loss",
    "near",     "coming",         "queue_behind", "room_behind",  "gains",
    "loses",    "yielding_queue", "lanes",        "is_present",   "green_s",
    "red_s",    "light_vehicles", "light_queue",  "light_loss",   "inside",
    "arriving", "held_next",      "blocked",      "left_s",       "longest_left_s",
    "advised"};

/// Sums over the links that have green in an option.
struct GreenSums {
  SignalLinkState links{.room_behind = 1};
  int yielding_queue = 0;
  int blocked = 0;  ///< vehicles that have no room on the lane behind the light
  int gains = 0;    ///< vehicles that have no green now and would get it
  int lanes = 0;
};

/// If room_behind is below this share, vehicles with green would stop inside the junction.
constexpr double kFull = 0.25;

double logarithmic(double seconds) { return std::log1p(seconds) / 5.0; }

}  // namespace

std::span<const std::string_view> signal_features() { return kNames; }

void mark_advised(std::span<float> row) { row.back() = 1.0F; }

void SignalView::append_features(int light_index, std::vector<float>& rows) const {
  const SignalLightState& light = at(lights_, light_index);
  const auto& places = at(places_, light_index);
  const std::vector<SignalOption> options = book_->options(light_index);
  const auto present = std::ranges::find_if(options, &SignalOption::is_present);
  const auto has_green_now = [&](std::size_t link) {
    return present != options.end() && is_green(present->green->state[link]);
  };
  int green_now = 0;  // vehicles that have green
  for (std::size_t k = 0; k < light.links.size(); ++k) {
    if (has_green_now(k)) green_now += light.links[k].vehicles;
  }
  for (const SignalOption& option : options) {
    const SignalGreen& green = *option.green;
    GreenSums sums;
    int kept = 0;
    std::vector<int> lanes;
    for (const int index : green.links) {
      const auto k = static_cast<std::size_t>(index);
      if (k >= light.links.size()) continue;  // link of a pedestrian crossing
      const SignalLinkState& link = light.links[k];
      sums.links.vehicles += link.vehicles;
      sums.links.queue += link.queue;
      sums.links.near += link.near;
      sums.links.coming += link.coming;
      sums.links.wait_s += link.wait_s;
      sums.links.longest_wait_s = std::max(sums.links.longest_wait_s, link.longest_wait_s);
      sums.links.loss += link.loss;
      sums.links.arriving += link.arriving;
      sums.links.held_next += link.held_next;
      if (link.room_behind < kFull) sums.blocked += link.vehicles;
      sums.links.queue_behind += link.vehicles > 0 ? link.queue_behind : 0;
      if (link.vehicles > 0) {
        sums.links.room_behind = std::min(sums.links.room_behind, link.room_behind);
      }
      if (green.state[k] == 'g') sums.yielding_queue += link.queue;
      (has_green_now(k) ? kept : sums.gains) += link.vehicles;
      const int lane = places[k].from_lane;
      if (std::find(lanes.begin(), lanes.end(), lane) == lanes.end()) lanes.push_back(lane);
    }
    const bool is_phase = option.is_present && book_->phase(light_index) >= 0;
    const std::array<double, kNames.size()> row{
        sums.links.vehicles / 10.0,
        sums.links.queue / 10.0,
        logarithmic(sums.links.wait_s),
        logarithmic(sums.links.longest_wait_s),
        sums.links.loss / 10.0,
        sums.links.near / 10.0,
        sums.links.coming / 5.0,
        sums.links.queue_behind / 10.0,
        sums.links.room_behind,
        sums.gains / 10.0,
        (green_now - kept) / 10.0,
        sums.yielding_queue / 10.0,
        static_cast<double>(lanes.size()) / 5.0,
        option.is_present ? 1.0 : 0.0,
        std::min(option.shown_s, 120.0) / 60.0,
        std::min(option.hidden_s, 180.0) / 60.0,
        light.vehicles / 30.0,
        light.queue / 30.0,
        light.loss / 30.0,
        light.inside / 5.0,
        sums.links.arriving / 10.0,
        sums.links.held_next / 10.0,
        sums.blocked / 10.0,
        is_phase ? std::min(book_->phase_left_s(light_index), 120.0) / 60.0 : 0.0,
        is_phase ? std::min(book_->longest_left_s(light_index), 120.0) / 60.0 : 0.0,
        0.0};
    for (const double value : row) rows.push_back(static_cast<float>(value));
  }
}

}  // namespace traffic::scene
