/// From recorded vehicles to the features and the graph that a model sees.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
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
  double vehicle_length_m = 5.0;  ///< of those whose source does not say it
};

/// Takes step after step; gives the graph of the last one.
class FrameMaker {
 public:
  virtual ~FrameMaker() = default;
  virtual void begin_stretch(double step_s) = 0;
  virtual void take(const RecordedFrame& frame, double time_s) = 0;
  /// Valid until the next call.
  virtual const scene::GraphFrame& build() = 0;
  /// Node and global features that are 0 because the source does not say them; after the last step.
  [[nodiscard]] virtual std::vector<std::string_view> missing_features() const = 0;
  /// How many vehicles there were.
  [[nodiscard]] virtual std::int64_t num_vehicles() const = 0;
};

/// Without a network: places, lanes by their names, leaders on the same lane.
std::unique_ptr<FrameMaker> make_mapless_maker(const MakerOptions& options, const std::string& file,
                                               InputProblems& problems);

/// The ways of all vehicles of a recording, in the order of their appearance.
struct Routes {
  std::vector<std::vector<int>> kinds;    ///< edges of the road
  std::vector<std::uint32_t> of_vehicle;  ///< index into kinds
};

/// Goes through a recording and notes which edges each vehicle drives on. A vehicle that is still
/// there at the end of its stretch is taken to go on as most do that came the same way.
/// @param progress told about the vehicles of every frame
Routes survey_routes(Recording& recording, const std::string& file, const scene::Road& road,
                     const std::function<void(std::size_t vehicles)>& progress);

/// On a network: as `data_prep record` sees a simulation.
std::unique_ptr<FrameMaker> make_road_maker(std::shared_ptr<const scene::Road> road, Routes routes,
                                            const MakerOptions& options, const std::string& file,
                                            InputProblems& problems);

/// The lane's edge; inside a junction, the edge that it leads to.
[[nodiscard]] int route_edge(const scene::Road& road, int lane);

[[nodiscard]] bool is_cv_type(const MakerOptions& options, std::string_view type);
/// Columns of features by their names.
[[nodiscard]] std::vector<std::size_t> node_columns(const std::vector<std::string_view>& names);

/// Features that are known of connected vehicles alone: missing where there are none.
inline constexpr std::string_view kCvFeatures[] = {"is_cv", "first_cv", "cvs", "cv_speed_mps"};

}  // namespace traffic::data_prep
