/// Bounds that real road traffic keeps, and a comparison of the vehicles' displacements with their
/// speeds. data_prep checks recordings and data sets with both.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "traffic/scene/road.h"

namespace traffic::data {

inline constexpr double kMaxSpeedMps = 150;         ///< the fastest trains reach 160
inline constexpr double kMaxAccelerationMps2 = 30;  ///< tyres allow about a third of it
/// Slower than this counts as standing still.
inline constexpr double kStandingMps = 0.1;
/// Displacements are compared closely with speeds only if frames are at most this far apart. In a
/// longer time a vehicle may have stopped and started again.
inline constexpr double kLongestComparedStepS = 5;

/// Whether a vehicle can have this acceleration and, at the same moment, this speed. A stop within
/// one step is possible: that is how simulators end collisions and missed lane ends.
[[nodiscard]] bool is_possible_acceleration(double accel_mps2, double speed_mps);

/// Generous bound of the distance between two places of a vehicle.
/// @param faster_mps the higher of its speeds at the two moments
[[nodiscard]] double reach_m(double faster_mps, double seconds);

/// Whether two intervals between frames are the same, however they were computed. Differences of
/// absolute times carry rounding errors: a step of 0.1 s comes out as 0.09999990 s in 2005.
[[nodiscard]] bool same_interval(double a_s, double b_s);

/// Compares displacements with speeds over stretches of 20 m and keeps the distribution of their
/// ratio, which is near 1 unless one of the two has another unit.
class DisplacementRatio {
 public:
  /// The stretch that a vehicle is driving, one for each vehicle.
  struct Stretch {
    scene::Point from{};
    double by_speed_m = 0;  ///< integral of the speed since the stretch began
    double speed_mps = 0;
    bool begun = false;
  };

  /// Moves a vehicle on by one step. @return the ratio of a stretch that this step completed
  std::optional<double> move(Stretch& stretch, scene::Point to, double speed_mps, double seconds);

  /// Median over all stretches; nothing as long as there are too few stretches.
  [[nodiscard]] std::optional<double> median() const;
  [[nodiscard]] std::int64_t num_stretches() const { return stretches_; }

 private:
  std::vector<std::int64_t> counts_;  ///< histogram of the ratio's logarithm
  std::int64_t stretches_ = 0;
};

/// Whether the ratio of displacements to the distances that follow from the speeds is possible.
/// @param step_s time between two frames
/// @param largest bound of the ratio and of its inverse where frames are near each other
[[nodiscard]] bool is_possible_ratio(double ratio, double step_s, double largest);

/// Explains a ratio by a mistaken unit: "the speeds may be km/h"; empty if none fits.
[[nodiscard]] std::string likely_unit(double ratio);

}  // namespace traffic::data
