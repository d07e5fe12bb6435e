// The FrameMaker for recordings without a road network: builds the graphs from which a model
// learns.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <deque>
#include <iterator>
#include <unordered_map>

#include "frame_maker.h"
#include "tracker.h"
#include "traffic/core/error.h"
#include "traffic/scene/mapless_frame_builder.h"

namespace traffic::data_prep {
namespace {

constexpr double kArrivedS = 30.0;  ///< arrivals are counted over the last kArrivedS seconds
/// The heading of a vehicle is computed from its movement if it moves more than this in one step.
constexpr double kHeadingStepM = 0.1;

/// The lane index in the name of a lane: the number after the last underscore, e.g. 1 in "up_1". It
/// is 0 if the name has no such number.
int index_in_name(std::string_view lane) {
  const auto at = lane.rfind('_');
  int index = 0;
  if (at == std::string_view::npos) return 0;
  std::from_chars(lane.data() + at + 1, lane.data() + lane.size(), index);
  return std::max(index, 0);
}

/// How far a vehicle has driven on its lane in one step.
/// @param along_lane_m change of its position along the lane
/// @param moved_m straight distance between its two places
double advance_m(double along_lane_m, double moved_m) {
  // On a ring, a vehicle that passes the start of the lane seems to move back along the lane, by
  // much more than the straight distance. It has driven about the straight distance.
  constexpr double kRoundingM = 1.0;
  return along_lane_m < -(moved_m + kRoundingM) ? moved_m : along_lane_m;
}

class MaplessMaker final : public FrameMaker {
 public:
  MaplessMaker(const MakerOptions& options, const std::string& file, InputProblems& problems)
      : options_(options), file_(file), problems_(problems) {}

  void begin_stretch(double step_s) override {
    step_s_ = step_s;
    tracker_.clear([](auto&) {});
    arrivals_.clear();
  }

  void take(const RecordedFrame& frame, double time_s) override {
    time_s_ = time_s;
    vehicles_.clear();
    tracker_.begin_frame();
    for (const RecordedVehicle& v : frame.vehicles) place(frame, v);
    for (const RecordedVehicle& v : frame.vehicles) note_leader(frame, v);
    tracker_.end_frame([&](auto&) { arrivals_.push_back(time_s); });
    while (!arrivals_.empty() && arrivals_.front() <= time_s - kArrivedS) arrivals_.pop_front();
  }

  const scene::GraphFrame& build() override {
    return builder_.build(time_s_, vehicles_, static_cast<int>(arrivals_.size()));
  }

  [[nodiscard]] std::vector<std::string_view> missing_features() const override {
    auto names = scene::MaplessFrameBuilder::missing_features(speed_limits_, !lanes_.empty());
    if (cvs_) return names;
    std::copy_if(
        std::begin(kCvFeatures), std::end(kCvFeatures), std::back_inserter(names),
        [&](auto name) { return std::find(names.begin(), names.end(), name) == names.end(); });
    return names;
  }
  [[nodiscard]] std::int64_t num_vehicles() const override { return tracker_.num_seen(); }

 private:
  /// A vehicle in the latest frame.
  struct State {
    int index = 0;  ///< position in vehicles_
    int lane = -1;
    double lane_pos_m = 0;
    double x_m = 0;
    double y_m = 0;
    double speed_mps = 0;
    double position_m = 0;
    scene::Point heading{};  ///< unit vector; zero if the heading is unknown
  };

  int lane_number(std::string_view name) {
    if (name.empty()) return -1;
    const auto found = lanes_.find(std::string(name));
    if (found != lanes_.end()) return found->second;
    return lanes_.emplace(std::string(name), static_cast<int>(lanes_.size())).first->second;
  }

  void place(const RecordedFrame& frame, const RecordedVehicle& from) {
    const std::string_view name = frame.view(from.name);
    if (std::isnan(from.x_m + from.y_m)) {
      problems_.report(
          file_, from.line,
          fmt::format("vehicle '{}' has no x and y; name the road network with --network, so that "
                      "positions on lanes can be used",
                      name));
      return;
    }
    auto* entry = tracker_.see(name);
    TRAFFIC_CHECK(entry != nullptr, "vehicle '{}' is twice in a frame", name);
    if (from.jumped && !entry->fresh) tracker_.renew(*entry);
    State& now = entry->state;
    const std::string_view lane = frame.view(from.lane);
    const bool on_lane = !lane.empty() && !std::isnan(from.lane_pos_m);
    const int lane_id = on_lane ? lane_number(lane) : -1;
    if (!entry->fresh) {
      const double moved_m = std::hypot(from.x_m - now.x_m, from.y_m - now.y_m);
      now.position_m += on_lane && lane_id == now.lane
                            ? advance_m(from.lane_pos_m - now.lane_pos_m, moved_m)
                            : moved_m;
      if (moved_m > kHeadingStepM) {
        now.heading = {(from.x_m - now.x_m) / moved_m, (from.y_m - now.y_m) / moved_m};
      }
    }
    if (!std::isnan(from.heading_x)) now.heading = {from.heading_x, from.heading_y};
    const double change = entry->fresh ? 0.0 : (from.speed_mps - now.speed_mps) / step_s_;
    now = {.index = static_cast<int>(vehicles_.size()),
           .lane = lane_id,
           .lane_pos_m = on_lane ? from.lane_pos_m : 0.0,
           .x_m = from.x_m,
           .y_m = from.y_m,
           .speed_mps = from.speed_mps,
           .position_m = now.position_m,
           .heading = now.heading};
    const bool cv = is_cv_type(options_, frame.view(from.type));
    const double limit = std::isnan(from.speed_limit_mps) ? 0.0 : from.speed_limit_mps;
    cvs_ |= cv;
    speed_limits_ |= limit > 0;
    vehicles_.push_back(
        {.id = entry->id,
         .is_cv = cv,
         .length_m = std::isnan(from.length_m) ? options_.vehicle_length_m : from.length_m,
         .lane = lane_id,
         .lane_index = from.lane_index >= 0 ? from.lane_index : index_in_name(lane),
         .lane_pos_m = now.lane_pos_m,
         .position_m = now.position_m,
         .xy_m = {from.x_m, from.y_m},
         .heading = now.heading,
         .speed_mps = from.speed_mps,
         .accel_mps2 = std::isnan(from.accel_mps2) ? change : from.accel_mps2,
         .speed_limit_mps = limit});
  }

  void note_leader(const RecordedFrame& frame, const RecordedVehicle& from) {
    if (from.leader.size == 0 || std::isnan(from.leader_gap_m)) return;
    const auto* own = tracker_.find(frame.view(from.name));
    const auto* leader = tracker_.find(frame.view(from.leader));
    if (own == nullptr || leader == nullptr) return;
    auto& vehicle = vehicles_[static_cast<std::size_t>(own->state.index)];
    vehicle.leader = leader->state.index;
    vehicle.leader_gap_m = from.leader_gap_m;
  }

  MakerOptions options_;
  std::string file_;
  InputProblems& problems_;
  double step_s_ = 1;
  double time_s_ = 0;
  Tracker<State> tracker_;
  std::unordered_map<std::string, int> lanes_;
  std::deque<double> arrivals_;
  std::vector<scene::MaplessVehicle> vehicles_;
  scene::MaplessFrameBuilder builder_;
  bool cvs_ = false;
  bool speed_limits_ = false;
};

}  // namespace

std::unique_ptr<FrameMaker> make_mapless_maker(const MakerOptions& options, const std::string& file,
                                               InputProblems& problems) {
  return std::make_unique<MaplessMaker>(options, file, problems);
}

}  // namespace traffic::data_prep
