/// Turns recorded vehicles on a network into scenes for driving policies.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "frame_maker.h"
#include "recording.h"
#include "tracker.h"
#include "traffic/driving/recorded_scene.h"
#include "traffic/scene/road.h"
#include "walk.h"

namespace traffic::data_prep {

struct SceneMakerOptions {
  double vehicle_length_m = 5.0;  ///< length of vehicles whose source does not state it
  double vehicle_width_m = 1.8;
  double episode_s = 0;  ///< 0: episodes are as long as the stretches of the recording
};

/// Receives every complete scene.
using SceneSink = std::function<void(driving::RecordedScene& scene)>;

/// Puts the vehicles of a recording into frames driving::kFrame_s apart. Between two times of the
/// recording it interpolates positions, headings and speeds.
class SceneMaker final : public Visitor {
 public:
  /// @param routes of the same recording on the same road
  /// @param file for messages
  SceneMaker(std::shared_ptr<const scene::Road> road, std::shared_ptr<const driving::RoadMap> map,
             Routes routes, const SceneMakerOptions& options, std::string file,
             InputProblems& problems, SceneSink sink);

  /// @throws DataError if the times of the recording are farther apart than frames of scenes
  void begin_stretch(double step_s) override;
  void visit(const RecordedFrame& frame, double time_s) override;
  /// Hands the last scene over.
  void finish();
  /// Number of distinct vehicles so far.
  [[nodiscard]] std::int64_t num_vehicles() const { return tracker_.num_seen(); }

 private:
  /// A vehicle at a time of the recording; its position is that of its centre.
  struct Sample {
    driving::Pose pose{};
    double speed_mps = 0;
    std::int32_t lane = -1;  ///< lane of the map; -1: none
    bool valid = false;
  };
  struct State {
    Sample before;
    Sample now;
    std::string type;
    double length_m = 0;
    int route_index = 0;
  };
  using Entry = Tracker<State>::Entry;

  /// Takes over a vehicle of the present frame, unless it is on no lane of the network.
  void take(const RecordedFrame& frame, const RecordedVehicle& from);
  [[nodiscard]] bool read_sample(const RecordedFrame& frame, const RecordedVehicle& from, int lane,
                                 double length_m, Sample& sample);
  /// Keeps to the vehicle's route, or makes it another vehicle that appears here.
  void follow_route(const RecordedFrame& frame, const RecordedVehicle& from, int lane,
                    Entry& entry);
  void add_frame(double share);
  void add_node(Entry& entry, double share);
  [[nodiscard]] std::int32_t vehicle_in_scene(const Entry& entry);
  [[nodiscard]] std::int32_t route_in_scene(const Entry& entry);

  std::shared_ptr<const scene::Road> road_;
  std::shared_ptr<const driving::RoadMap> map_;
  Routes routes_;
  SceneMakerOptions options_;
  std::string file_;
  InputProblems& problems_;
  SceneSink sink_;
  std::vector<std::int32_t> lane_in_map_;  ///< [lanes of the road] -1: closed to cars
  std::vector<std::int32_t> edge_in_map_;  ///< [edges of the road]
  Tracker<State> tracker_;
  std::vector<Entry*> present_;  ///< vehicles of the latest frame
  driving::RecordedScene scene_;
  std::unordered_map<std::uint32_t, std::int32_t> vehicle_of_;  ///< by number in the recording
  std::unordered_map<std::uint32_t, std::int32_t> route_of_;    ///< by kind of route
  double last_time_s_ = 0;
  double next_frame_s_ = 0;
  bool stretch_is_new_ = true;
};

}  // namespace traffic::data_prep
