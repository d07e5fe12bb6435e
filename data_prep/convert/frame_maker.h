/// Turns recorded vehicles into the features and the graph that a model sees.
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
  std::vector<std::string> cv_types;
  double vehicle_length_m = 5.0;  ///< length of vehicles whose source does not state it
};

/// Takes the frames of a recording in their order and builds the graph of the latest one.
class FrameMaker {
 public:
  virtual ~FrameMaker() = default;
  virtual void begin_stretch(double step_s) = 0;
  virtual void take(const RecordedFrame& frame, double time_s) = 0;
  /// Valid until the next call.
  virtual const scene::GraphFrame& build() = 0;
  /// Node and global features that are 0 because the source does not contain them. Call it after
  /// the last step.
  [[nodiscard]] virtual std::vector<std::string_view> missing_features() const = 0;
  /// Number of distinct vehicles so far.
  [[nodiscard]] virtual std::int64_t num_vehicles() const = 0;
};

/// Makes a FrameMaker that needs no network. It uses positions, names of lanes, and leaders on the
/// same lane.
std::unique_ptr<FrameMaker> make_mapless_maker(const MakerOptions& options, const std::string& file,
                                               InputProblems& problems);

/// The routes of all vehicles of a recording, in the order of their appearance.
struct Routes {
  std::vector<std::vector<int>> kinds;    ///< distinct routes, each a list of edges
  std::vector<std::uint32_t> of_vehicle;  ///< index into kinds
};

/// The lane on which a vehicle stands, as an index; nothing if the network does not have the lane
/// or the recording does not have the position on it.
std::optional<int> lane_of(const RecordedFrame& frame, const RecordedVehicle& vehicle,
                           const scene::Road& road);
/// Like lane_of(), but reports a vehicle without a lane.
std::optional<int> lane_or_problem(const RecordedFrame& frame, const RecordedVehicle& vehicle,
                                   const scene::Road& road, const std::string& file,
                                   InputProblems& problems);

/// Reads a recording and notes which edges each vehicle drives on. A vehicle that is still on the
/// road at the end of its stretch gets the most frequent continuation of its route.
/// @param progress receives the number of vehicles of every frame
Routes survey_routes(Recording& recording, const std::string& file, const scene::Road& road,
                     const std::function<void(std::size_t vehicles)>& progress);

/// Makes a FrameMaker for recordings on a network. Its features are those of `data_prep record`.
std::unique_ptr<FrameMaker> make_road_maker(std::shared_ptr<const scene::Road> road, Routes routes,
                                            const MakerOptions& options, const std::string& file,
                                            InputProblems& problems);

/// The edge of a lane; inside a junction, the edge that the lane leads to.
[[nodiscard]] int route_edge(const scene::Road& road, int lane);

[[nodiscard]] bool is_cv_type(const MakerOptions& options, std::string_view type);
/// Columns of the named features.
[[nodiscard]] std::vector<std::size_t> node_columns(const std::vector<std::string_view>& names);

/// Features of connected vehicles. They are missing if a recording has no such vehicle.
inline constexpr std::string_view kCvFeatures[] = {"is_cv", "first_cv", "cvs", "cv_speed_mps"};

}  // namespace traffic::data_prep
