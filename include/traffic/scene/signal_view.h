/// SignalView counts the traffic that approaches each link of the traffic lights, and computes the
/// features that a controller of lights observes. The features mean the same at every light of
/// every network.
///
/// A vehicle belongs to the link of the next light on its route if the stop line is within
/// kSignalReachM. Any number of edges may lie between them, so queues across short edges count.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "traffic/scene/road_state.h"
#include "traffic/scene/signal_book.h"

namespace traffic::scene {

inline constexpr double kSignalReachM = 200.0;    ///< maximum distance to the stop line
inline constexpr double kArrivingReachM = 400.0;  ///< maximum distance of `arriving` vehicles
inline constexpr double kNearSignalM = 50.0;
inline constexpr double kCloseSignalM = 100.0;
inline constexpr double kSignalQueueMps = 1.0;  ///< slower vehicles count as a queue
/// Vehicles that have stood inside a junction and are still slower than this count as driving out
/// of it. Faster ones leave before others arrive.
inline constexpr double kDrivingOutMps = 3.0;

/// Traffic before one link of a light.
struct SignalLinkState {
  int vehicles = 0;           ///< within reach of the link
  int queue = 0;              ///< how many of `vehicles` are slower than kSignalQueueMps
  int near = 0;               ///< how many of `vehicles` are within kNearSignalM
  int close = 0;              ///< how many of `vehicles` are within kCloseSignalM
  int coming = 0;             ///< how many reach the stop line within 3 s, or are within 10 m
  double wait_s = 0;          ///< sum of the times for which `vehicles` have been standing
  double longest_wait_s = 0;  ///< maximum of these times
  double loss = 0;            ///< time that `vehicles` lose, in seconds per second
  /// Vehicles that will come into reach: those between kSignalReachM and kArrivingReachM away, and
  /// those before the previous light that have green there.
  int arriving = 0;
  int held_next = 0;       ///< how many of `vehicles` have red at the light after this one
  int queue_behind = 0;    ///< slow vehicles (as in `queue`) on the lane that the link leads to
  double room_behind = 1;  ///< 0..1: free share of the first 30 m of that lane
};

/// Traffic before one light.
struct SignalLightState {
  std::vector<SignalLinkState> links;  ///< by index into the light's state string
  int vehicles = 0;                    ///< vehicles, queue and loss are sums over the links
  int queue = 0;
  double loss = 0;
  int inside = 0;     ///< vehicles slower than kSignalQueueMps inside its junctions
  int leaving = 0;    ///< vehicles that have stood inside and now drive out, below kDrivingOutMps
  double lost_s = 0;  ///< time lost before this light in the last step, also by vehicles that wait
                      ///< to enter towards it
  Emissions emissions{};  ///< of vehicles within reach in the last step, also of those that wait to
                          ///< enter towards this light
  double driven_m = 0;    ///< distance that vehicles within reach drove in the last step
};

/// Names of the features of an option (a state that a light may show next), in the order of their
/// columns.
std::span<const std::string_view> signal_features();
/// Sets the feature "advised" in a row of signal_features(): an advisor would choose this option.
void mark_advised(std::span<float> row);

class SignalView {
 public:
  /// @param road must outlive this object
  explicit SignalView(const Road& road);

  /// Begins an episode.
  void reset();
  /// Called after every step, once the book has observed it.
  void update(const RoadState& state, const SignalBook& book);

  [[nodiscard]] const Road& road() const { return road_; }
  /// The book of the last update.
  [[nodiscard]] const SignalBook& book() const { return *book_; }
  [[nodiscard]] const SignalLightState& light(int light) const {
    return lights_[static_cast<std::size_t>(light)];
  }
  /// Appends a row of signal_features(), scaled to about 0..1, for each option of a light
  /// (SignalBook::options). No option is marked as advised.
  void append_features(int light, std::vector<float>& rows) const;

 private:
  /// The lanes that a link connects.
  struct LinkPlace {
    int from_lane = -1;
    int to_lane = -1;
  };
  /// The first light ahead of an edge of a route.
  struct Ahead {
    int light = -1;  ///< -1: none
    int link = -1;
    std::size_t edge = 0;  ///< index into the route of the edge at whose end the light stands
    double line_m = 0;     ///< distance from the start of the route to the stop line
  };
  /// An approach whose vehicles that wait to enter the network count as waiting for a light.
  struct Backlog {
    int conflict = 0;
    int approach = 0;
    int light = 0;
  };

  void find_links();
  void find_backlogs();
  const std::vector<Ahead>& ahead_of(const RoutePlan& plan);
  SignalLinkState& link_of(const Ahead& ahead);
  [[nodiscard]] Ahead find_ahead(const RoutePlan& plan, std::size_t edge) const;
  void count(const Vehicle& vehicle, const RoadState& state);
  void count_inside(const Vehicle& vehicle);
  void look_behind(const RoadState& state);

  const Road& road_;
  const SignalBook* book_ = nullptr;
  std::vector<std::vector<LinkPlace>> places_;  ///< [lights][links]
  std::vector<int> light_inside_;  ///< [lanes] light of the junction around the lane; -1: none
  std::vector<Backlog> backlogs_;
  std::unordered_map<const RoutePlan*, std::vector<Ahead>> ahead_;  ///< by edge of the route
  std::vector<float> stood_s_;      ///< [vehicle ids] time for which the vehicle has been standing
  std::vector<char> stood_inside_;  ///< [vehicle ids] whether it has stood in its present junction
  std::vector<SignalLightState> lights_;
};

}  // namespace traffic::scene
