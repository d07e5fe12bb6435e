/// FrameMaker turns the vehicles of a recording into the graphs with features from which a model
/// learns. There are two implementations: for recordings on a road network, and for recordings
/// without a network.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "recording.h"
#include "traffic/scene/frame.h"
#include "traffic/scene/road.h"
#include "walk.h"

namespace traffic::data_prep {

struct MakerOptions {
  std::vector<std::string> cv_types;  ///< types of vehicles that are connected
  double vehicle_length_m = 5.0;      ///< length of vehicles whose length is not recorded
};

/// Takes the frames of a recording in their order (take()), and builds the graph of the latest
/// frame (build()).
class FrameMaker {
 public:
  virtual ~FrameMaker() = default;
  /// Begins a stretch, a sequence of frames without gaps (walk.h).
  virtual void begin_stretch(double step_s) = 0;
  virtual void take(const RecordedFrame& frame, double time_s) = 0;
  /// Returns the graph of the latest frame. It is valid until the next call.
  virtual const scene::GraphFrame& build() = 0;
  /// Node and global features that are 0 because the recording does not contain them. Call it after
  /// the last frame.
  [[nodiscard]] virtual std::vector<std::string_view> missing_features() const = 0;
  /// Number of distinct vehicles so far.
  [[nodiscard]] virtual std::int64_t num_vehicles() const = 0;
};

/// Makes a FrameMaker that needs no network. It uses positions, names of lanes, and leaders on the
/// same lane.
std::unique_ptr<FrameMaker> make_mapless_maker(const MakerOptions& options, const std::string& file,
                                               InputProblems& problems);

/// The routes of all vehicles of a recording.
struct Routes {
  std::vector<std::vector<int>> kinds;  ///< distinct routes, each as a list of edges
  /// [vehicles, in the order of their appearance] index into kinds
  std::vector<std::uint32_t> of_vehicle;
};

/// The index of the lane on which a vehicle is. nullopt if the network does not have the lane, or
/// if the recording does not have the vehicle's position on it.
std::optional<int> lane_of(const RecordedFrame& frame, const RecordedVehicle& vehicle,
                           const scene::Road& road);
/// Does the same as lane_of(), and reports a problem if the result is nullopt.
std::optional<int> lane_or_problem(const RecordedFrame& frame, const RecordedVehicle& vehicle,
                                   const scene::Road& road, const std::string& file,
                                   InputProblems& problems);

/// Reads a recording and finds the edges on which each vehicle drives. The route of a vehicle that
/// is still on the road at the end of a stretch is incomplete. Such a vehicle gets the most
/// frequent complete route that contains its incomplete one.
/// @param progress called for every frame with its number of vehicles
Routes survey_routes(Recording& recording, const std::string& file, const scene::Road& road,
                     const std::function<void(std::size_t vehicles)>& progress);

/// Makes a FrameMaker for recordings on a network. It computes the same features as `data_prep
/// record`.
std::unique_ptr<FrameMaker> make_road_maker(std::shared_ptr<const scene::Road> road, Routes routes,
                                            const MakerOptions& options, const std::string& file,
                                            InputProblems& problems);

/// The edge of a lane. For a lane inside a junction it is the edge to which the lane leads.
[[nodiscard]] int route_edge(const scene::Road& road, int lane);

/// Whether vehicles of this type are connected.
[[nodiscard]] bool is_cv_type(const MakerOptions& options, std::string_view type);
/// Column indices of the node features with these names.
[[nodiscard]] std::vector<std::size_t> node_columns(const std::vector<std::string_view>& names);

/// Features that describe connected vehicles. A recording without connected vehicles does not
/// contain them.
inline constexpr std::string_view kCvFeatures[] = {"is_cv", "first_cv", "cvs", "cv_speed_mps"};

}  // namespace traffic::data_prep
