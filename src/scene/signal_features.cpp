// Computes the features of each option of a light (a state that the light may show next).
// Controllers of lights observe these features.
#include <algorithm>
#include <array>
#include <cmath>

#include "index.h"
#include "traffic/scene/signal_features.h"
#include "traffic/scene/signal_view.h"

namespace traffic::scene {
namespace {

/// The features, in the order in which append_features() writes them.
constexpr std::array<SignalFeatureSpec, 26> kFeatures{{
    {.name = "vehicles",
     .unit = "1",
     .scale = 10,
     .help = "vehicles within 200 m of the stop lines of the links that the option gives green"},
    {.name = "queue",
     .unit = "1",
     .scale = 10,
     .help = "vehicles among these that are slower than 1 m/s"},
    {.name = "wait",
     .unit = "s",
     .scale = 5,
     .help = "sum of the times for which these vehicles have been standing",
     .is_logarithmic = true},
    {.name = "longest_wait",
     .unit = "s",
     .scale = 5,
     .help = "longest of these times",
     .is_logarithmic = true},
    {.name = "loss",
     .unit = "1",
     .scale = 10,
     .help = "time that these vehicles lose, in seconds per second"},
    {.name = "near", .unit = "1", .scale = 10, .help = "vehicles within 50 m of the stop lines"},
    {.name = "coming",
     .unit = "1",
     .scale = 5,
     .help = "vehicles that reach a stop line within 3 s, or are within 10 m of it"},
    {.name = "queue_behind",
     .unit = "1",
     .scale = 10,
     .help = "vehicles slower than 1 m/s on the lanes behind the junction, counted for links "
             "before which vehicles are"},
    {.name = "room_behind",
     .unit = "1",
     .scale = 1,
     .help = "smallest free share of the first 30 m of these lanes",
     .high = 1},
    {.name = "gains",
     .unit = "1",
     .scale = 10,
     .help = "vehicles that have no green now and would get it"},
    {.name = "loses",
     .unit = "1",
     .scale = 10,
     .help = "vehicles that have green now and would lose it"},
    {.name = "yielding_queue",
     .unit = "1",
     .scale = 10,
     .help = "vehicles of `queue` before links whose green yields to other streams"},
    {.name = "lanes", .unit = "1", .scale = 5, .help = "lanes that get green"},
    {.name = "is_present",
     .unit = "1",
     .scale = 1,
     .help = "1 for the option that the light shows now",
     .high = 1},
    {.name = "green_s",
     .unit = "s",
     .scale = 60,
     .help = "how long the light has been showing the option; 0 unless it is present; at most 120",
     .cap = 120},
    {.name = "red_s",
     .unit = "s",
     .scale = 60,
     .help = "time since the light showed the option last; 0 if it is present; at most 180",
     .cap = 180},
    {.name = "light_vehicles",
     .unit = "1",
     .scale = 30,
     .help = "vehicles within 200 m of all stop lines of the light"},
    {.name = "light_queue",
     .unit = "1",
     .scale = 30,
     .help = "vehicles among these that are slower than 1 m/s"},
    {.name = "light_loss",
     .unit = "1",
     .scale = 30,
     .help = "time that these vehicles lose, in seconds per second"},
    {.name = "inside",
     .unit = "1",
     .scale = 5,
     .help = "vehicles slower than 1 m/s inside the junction"},
    {.name = "arriving",
     .unit = "1",
     .scale = 10,
     .help = "vehicles that will come within 200 m: those up to 400 m away, and those before the "
             "previous light that have green there"},
    {.name = "held_next",
     .unit = "1",
     .scale = 10,
     .help = "vehicles that have red at the light after this one"},
    {.name = "blocked",
     .unit = "1",
     .scale = 10,
     .help = "vehicles of links with less than a quarter of room_behind free"},
    {.name = "left_s",
     .unit = "s",
     .scale = 60,
     .help =
         "time until the present phase of a kept program ends; 0 for other options; at most 120",
     .cap = 120},
    {.name = "longest_left_s",
     .unit = "s",
     .scale = 60,
     .help = "longest time for which this phase may still last; 0 for other options; at most 120",
     .cap = 120},
    {.name = "advised",
     .unit = "1",
     .scale = 1,
     .help = "1 for the option that the advisor takes",
     .high = 1},
}};

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

}  // namespace

double SignalFeatureSpec::scaled(double value) const {
  const double capped = std::min(value, cap);
  return (is_logarithmic ? std::log1p(capped) : capped) / scale;
}

double SignalFeatureSpec::unscaled(double scaled_value) const {
  return is_logarithmic ? std::expm1(scaled_value * scale) : scaled_value * scale;
}

std::span<const SignalFeatureSpec> signal_feature_specs() { return kFeatures; }

std::span<const std::string_view> signal_features() {
  static constexpr auto kNames = [] {
    std::array<std::string_view, kFeatures.size()> names;
    std::ranges::transform(kFeatures, names.begin(), &SignalFeatureSpec::name);
    return names;
  }();
  return kNames;
}

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
    const std::array<double, kFeatures.size()> row{
        static_cast<double>(sums.links.vehicles),
        static_cast<double>(sums.links.queue),
        sums.links.wait_s,
        sums.links.longest_wait_s,
        sums.links.loss,
        static_cast<double>(sums.links.near),
        static_cast<double>(sums.links.coming),
        static_cast<double>(sums.links.queue_behind),
        sums.links.room_behind,
        static_cast<double>(sums.gains),
        static_cast<double>(green_now - kept),
        static_cast<double>(sums.yielding_queue),
        static_cast<double>(lanes.size()),
        option.is_present ? 1.0 : 0.0,
        option.shown_s,
        option.hidden_s,
        static_cast<double>(light.vehicles),
        static_cast<double>(light.queue),
        light.loss,
        static_cast<double>(light.inside),
        static_cast<double>(sums.links.arriving),
        static_cast<double>(sums.links.held_next),
        static_cast<double>(sums.blocked),
        is_phase ? book_->phase_left_s(light_index) : 0.0,
        is_phase ? book_->longest_left_s(light_index) : 0.0,
        0.0};
    for (std::size_t i = 0; i < row.size(); ++i) {
      rows.push_back(static_cast<float>(kFeatures[i].scaled(row[i])));
    }
  }
}

}  // namespace traffic::scene
