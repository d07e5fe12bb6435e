// The FrameMaker for recordings on a road network: builds the graphs from which a model learns.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "frame_maker.h"
#include "tracker.h"
#include "traffic/core/error.h"
#include "traffic/scene/frame_builder.h"
#include "traffic/scene/road_state.h"

namespace traffic::data_prep {
namespace {

/// Features that no recording of vehicles contains.
constexpr std::string_view kNeverKnown[] = {"own_backlog",   "conflicting_backlog", "commanded",
                                            "commit_left_s", "others_held",         "waiting"};
/// Features of traffic lights. The network contains the places of the lights, but recordings do not
/// contain their states.
constexpr std::string_view kSignalFeatures[] = {
    "signal_red",        "signal_change_s",      "signal_cycle",     "conflicting_signal",
    "conflicting_green", "conflicting_change_s", "conflicting_cycle"};

class RoadMaker final : public FrameMaker {
 public:
  RoadMaker(std::shared_ptr<const scene::Road> road, Routes routes, const MakerOptions& options,
            const std::string& file, InputProblems& problems)
      : options_(options),
        file_(file),
        problems_(problems),
        road_(std::move(road)),
        routes_(std::move(routes)),
        plans_(*road_),
        state_(road_) {}

  void begin_stretch(double step_s) override {
    tracker_.clear([](auto&) {});
    state_.reset(step_s, 0.0);
  }

  void take(const RecordedFrame& frame, double time_s) override {
    tracker_.begin_frame();
    given_.clear();
    for (const RecordedVehicle& v : frame.vehicles) place(frame, v);
    tracker_.end_frame([&](auto& entry) { state_.arrive(entry.id); });
    scene::StepEvents events;
    events.time_s = time_s;
    state_.update(events);
    for (const auto& [id, accel] : given_) {
      if (scene::Vehicle* vehicle = state_.find(id)) {
        vehicle->accel_mps2 = accel;
        vehicle->braking = accel < -scene::kHardBrakeMps2;
      }
    }
  }

  const scene::GraphFrame& build() override {
    const scene::GraphFrame& frame = builder_.build(state_);
    if (road_->lights.empty()) return frame;
    frame_ = frame;
    const std::size_t width = scene::node_features().size();
    for (std::size_t row = 0; row < frame_.node_features.size(); row += width) {
      for (const std::size_t column : signal_columns_) frame_.node_features[row + column] = 0.0F;
    }
    return frame_;
  }

  [[nodiscard]] std::vector<std::string_view> missing_features() const override {
    std::vector<std::string_view> names(std::begin(kNeverKnown), std::end(kNeverKnown));
    if (!road_->lights.empty()) {
      names.insert(names.end(), std::begin(kSignalFeatures), std::end(kSignalFeatures));
    }
    if (!cvs_) names.insert(names.end(), std::begin(kCvFeatures), std::end(kCvFeatures));
    return names;
  }
  [[nodiscard]] std::int64_t num_vehicles() const override { return tracker_.num_seen(); }

 private:
  struct Nothing {};

  void place(const RecordedFrame& frame, const RecordedVehicle& from) {
    const std::string_view name = frame.view(from.name);
    const std::optional<int> lane = lane_or_problem(frame, from, *road_, file_, problems_);
    if (!lane) return;
    auto* entry = tracker_.see(name);
    TRAFFIC_CHECK(entry != nullptr, "vehicle '{}' is twice in a frame", name);
    scene::Vehicle* vehicle = entry->fresh ? nullptr : state_.find(entry->id);
    if (vehicle != nullptr &&
        vehicle->plan->find(route_edge(*road_, *lane), vehicle->route_index) < 0) {
      state_.remove(entry->id);  // the vehicle jumped; from here on it counts as a new vehicle
      tracker_.renew(*entry);
      vehicle = nullptr;
    }
    if (vehicle == nullptr) vehicle = depart(frame, from, entry->id);
    vehicle->lane = *lane;
    vehicle->lane_pos_m = from.lane_pos_m;
    vehicle->speed_mps = from.speed_mps;
    if (!std::isnan(from.accel_mps2)) given_.emplace_back(entry->id, from.accel_mps2);
  }

  scene::Vehicle* depart(const RecordedFrame& frame, const RecordedVehicle& from,
                         std::uint32_t id) {
    if (id >= routes_.of_vehicle.size()) {
      throw DataError(
          "{}:{}: vehicle '{}' was not in the file when the routes were read; the file must not "
          "change during the conversion",
          file_, from.line, frame.view(from.name));
    }
    scene::Vehicle vehicle;
    vehicle.id = id;
    vehicle.plan = &plans_.of(routes_.kinds[routes_.of_vehicle[id]]);
    vehicle.is_cv = is_cv_type(options_, frame.view(from.type));
    vehicle.length_m = std::isnan(from.length_m) ? options_.vehicle_length_m : from.length_m;
    cvs_ |= vehicle.is_cv;
    state_.depart(vehicle);
    return state_.find(id);
  }

  MakerOptions options_;
  std::string file_;
  InputProblems& problems_;
  std::shared_ptr<const scene::Road> road_;
  Routes routes_;
  scene::RoutePlans plans_;
  scene::RoadState state_;
  scene::FrameBuilder builder_;
  scene::GraphFrame frame_;
  Tracker<Nothing> tracker_;
  std::vector<std::pair<std::uint32_t, double>> given_;  ///< stated accelerations, by vehicle id
  std::vector<std::size_t> signal_columns_ =
      node_columns({std::begin(kSignalFeatures), std::end(kSignalFeatures)});
  bool cvs_ = false;
};

}  // namespace

bool is_cv_type(const MakerOptions& options, std::string_view type) {
  return std::find(options.cv_types.begin(), options.cv_types.end(), type) !=
         options.cv_types.end();
}

std::vector<std::size_t> node_columns(const std::vector<std::string_view>& names) {
  std::vector<std::size_t> columns;
  for (const auto name : names) {
    columns.push_back(static_cast<std::size_t>(scene::node_feature_index(name)));
  }
  return columns;
}

std::unique_ptr<FrameMaker> make_road_maker(std::shared_ptr<const scene::Road> road, Routes routes,
                                            const MakerOptions& options, const std::string& file,
                                            InputProblems& problems) {
  return std::make_unique<RoadMaker>(std::move(road), std::move(routes), options, file, problems);
}

}  // namespace traffic::data_prep
