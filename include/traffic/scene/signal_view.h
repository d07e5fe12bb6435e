/// What stands before the traffic lights, stream by stream, and what a controller of lights sees of
/// it: figures that mean the same at every light of every network.
///
/// A vehicle belongs to the link of the first light on its route, however many edges lie between,
/// if that is within kSignalReachM; so queues are seen that reach back over short edges.
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

inline constexpr double kSignalReachM = 200.0;    ///< to the stop line
inline constexpr double kArrivingReachM = 400.0;  ///< of those still on their way into reach
inline constexpr double kNearSignalM = 50.0;
inline constexpr double kSignalQueueMps = 1.0;  ///< slower ones queue
/// Who has stood inside a junction and is slower than this is driving out of it; who is faster will
/// be out before others come.
inline constexpr double kDrivingOutMps = 3.0;

/// One link of a light now.
struct SignalLinkState {
  int vehicles = 0;           ///< on their way to it, within reach
  int queue = 0;              ///< those of them slower than kSignalQueueMps
  int near = 0;               ///< those within kNearSignalM
  int coming = 0;             ///< those that reach the line within 3 s, or stand right before it
  double wait_s = 0;          ///< sum of the times that they have been standing
  double longest_wait_s = 0;  ///< of one of them
  double loss = 0;            ///< seconds that they lose in a second
  /// On their way into reach: from farther, or past a light that is green for them.
  int arriving = 0;
  int held_next = 0;       ///< vehicles for whom the light after this one is red
  int queue_behind = 0;    ///< on the lane that it leads to
  double room_behind = 1;  ///< 0..1: how much of the first stretch of that lane is free
};

/// One light now.
struct SignalLightState {
  std::vector<SignalLinkState> links;  ///< by position in the light's state
  int vehicles = 0;                    ///< of all links
  int queue = 0;
  double loss = 0;
  int inside = 0;     ///< vehicles that stand inside its junctions
  int leaving = 0;    ///< that have stood there and drive out, under kDrivingOutMps
  double lost_s = 0;  ///< time lost in the last step before this light, also by those that wait to
                      ///< enter towards it
};

/// Names of the columns of a green, in their order.
std::span<const std::string_view> signal_features();

class SignalView {
 public:
  /// @param road as long as this lives
  explicit SignalView(const Road& road);

  /// A new episode.
  void reset();
  /// After every step, when the book has observed it.
  void update(const RoadState& state, const SignalBook& book);

  [[nodiscard]] const Road& road() const { return road_; }
  /// Of the last update.
  [[nodiscard]] const SignalBook& book() const { return *book_; }
  [[nodiscard]] const SignalLightState& light(int light) const {
    return lights_[static_cast<std::size_t>(light)];
  }
  /// Appends a row of signal_features() for each green of a light, scaled to about 0..1.
  void append_features(int light, std::vector<float>& rows) const;

 private:
  /// Where a link lies.
  struct LinkPlace {
    int from_lane = -1;
    int to_lane = -1;
  };
  /// The first light ahead of an edge of a route.
  struct Ahead {
    int light = -1;  ///< -1: none
    int link = -1;
    std::size_t edge = 0;  ///< at whose end it stands, an index into the route
    double line_m = 0;     ///< from the start of the route to the stop line
  };
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
  std::vector<int> light_inside_;               ///< [lanes] whose junction it is part of; or -1
  std::vector<Backlog> backlogs_;
  std::unordered_map<const RoutePlan*, std::vector<Ahead>> ahead_;
  std::vector<float> stood_s_;      ///< by vehicle id: standing since that long
  std::vector<char> stood_inside_;  ///< by vehicle id: in the junction that it is in
  std::vector<SignalLightState> lights_;
};

}  // namespace traffic::scene
