/// SceneMaker turns the vehicles of a recording on a road network into scenes (one per episode),
/// from which driving policies learn.
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

/// Lengths and widths that a recording does not contain, and the length of episodes.
struct SceneMakerOptions {
  double vehicle_length_m = 5.0;  ///< length of vehicles for which the recording does not state it
  double vehicle_width_m = 1.8;
  double episode_s = 0;  ///< length of episodes; 0 means that each stretch (walk.h) is an episode
};

/// Receives every complete scene.
using SceneSink = std::function<void(driving::RecordedScene& scene)>;

/// The frames of a scene are driving::kFrame_s apart. If a frame lies between two times of the
/// recording, positions, headings and speeds are interpolated.
class SceneMaker final : public Visitor {
 public:
  /// @param routes routes of the same recording on the same road network
  /// @param file name of the recording, for messages
  SceneMaker(std::shared_ptr<const scene::Road> road, std::shared_ptr<const driving::RoadMap> map,
             Routes routes, const SceneMakerOptions& options, std::string file,
             InputProblems& problems, SceneSink sink);

  /// @throws DataError if the times of the recording are farther apart than driving::kFrame_s
  void begin_stretch(double step_s) override;
  void visit(const RecordedFrame& frame, double time_s) override;
  /// Passes the last scene to the sink.
  void finish();
  /// Number of distinct vehicles so far.
  [[nodiscard]] std::int64_t num_vehicles() const { return tracker_.num_seen(); }

 private:
  /// A vehicle at one time of the recording.
  struct Sample {
    driving::Pose pose{};  ///< of the centre of the vehicle
    double speed_mps = 0;
    std::int32_t lane = -1;  ///< lane of the map; -1 if the lane is not in the map
    bool valid = false;      ///< false if the vehicle was not recorded at this time
  };
  /// A vehicle of the recording.
  struct State {
    Sample before;  ///< at the previous time of the recording
    Sample now;     ///< at the latest time of the recording
    std::string type;
    double length_m = 0;
    int route_index = 0;
  };
  using Entry = Tracker<State>::Entry;

  /// Processes a vehicle of the current frame. Reports and skips a vehicle that is not on a lane of
  /// the network.
  void take(const RecordedFrame& frame, const RecordedVehicle& from);
  [[nodiscard]] bool read_sample(const RecordedFrame& frame, const RecordedVehicle& from, int lane,
                                 double length_m, Sample& sample);
  /// Finds the vehicle's place on its route. If the vehicle is not on its route any more, makes it
  /// a new vehicle.
  void follow_route(const RecordedFrame& frame, const RecordedVehicle& from, int lane,
                    Entry& entry);
  /// Adds a frame between the last two times of the recording.
  /// @param share where the frame lies: 0 at the previous time, 1 at the latest time
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
  /// [lanes of the road network] index of the lane in the map; -1 if the lane is closed to cars
  std::vector<std::int32_t> lane_in_map_;
  /// [edges of the road network] index of the edge in the map; -1 if the edge is closed to cars
  std::vector<std::int32_t> edge_in_map_;
  Tracker<State> tracker_;
  std::vector<Entry*> present_;  ///< vehicles of the latest frame
  driving::RecordedScene scene_;
  /// Index of a vehicle in scene_, by its number in the recording.
  std::unordered_map<std::uint32_t, std::int32_t> vehicle_of_;
  /// Index of a route in scene_, by its index in Routes::kinds.
  std::unordered_map<std::uint32_t, std::int32_t> route_of_;
  double last_time_s_ = 0;
  double next_frame_s_ = 0;
  bool stretch_is_new_ = true;
};

}  // namespace traffic::data_prep
