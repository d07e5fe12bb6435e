/// Checks whether recorded traffic is physically possible: bounds of speeds and accelerations, and
/// a comparison of the vehicles' displacements with their speeds. data_prep checks recordings and
/// data sets with these functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "traffic/scene/road.h"

namespace traffic::data {

inline constexpr double kMaxSpeedMps = 150;         ///< faster than any road vehicle in traffic
inline constexpr double kMaxAccelerationMps2 = 30;  ///< tyres allow about a third of it
/// A vehicle that is slower than this counts as standing still.
inline constexpr double kStandingMps = 0.1;
/// Longest time between two frames, in seconds, at which the ratio of displacements and speeds must
/// lie within narrow bounds. In a longer time a vehicle may have stopped and started again.
inline constexpr double kLongestComparedStepS = 5;

/// Whether a vehicle can have this acceleration and, at the same moment, this speed. Any
/// deceleration to a standstill is accepted, because simulators stop a vehicle within one step at a
/// collision or at the end of a lane.
[[nodiscard]] bool is_possible_acceleration(double accel_mps2, double speed_mps);

/// Generous upper bound of the distance that a vehicle can move in `seconds`.
/// @param faster_mps the higher of the vehicle's speeds at the beginning and at the end
[[nodiscard]] double reach_m(double faster_mps, double seconds);

/// Whether two intervals between frames are equal up to rounding errors. An interval that was
/// computed from two absolute times (seconds since 1970) has such errors: 0.1 s becomes 0.0999999
/// s.
[[nodiscard]] bool same_interval(double a_s, double b_s);

/// Compares displacements with speeds. It divides the path of each vehicle into stretches of about
/// 20 m. For each stretch it computes the ratio of the displacement to the distance that follows
/// from the speeds. A median of the ratios far from 1 indicates a wrong unit, e.g. km/h.
class DisplacementRatio {
 public:
  /// State of one vehicle: the stretch that it is driving. The caller has one for each vehicle.
  struct Stretch {
    scene::Point from{};    ///< position at which the stretch began
    double by_speed_m = 0;  ///< integral of the speed since the stretch began
    double speed_mps = 0;   ///< speed at the last position
    bool begun = false;     ///< false until the first position of the vehicle
  };

  /// Moves a vehicle to its next position.
  /// @param seconds time since the previous position
  /// @return the ratio of the stretch that this step completed; nothing if it completed none
  std::optional<double> move(Stretch& stretch, scene::Point to, double speed_mps, double seconds);

  /// Median over all stretches; nothing as long as there are too few stretches.
  [[nodiscard]] std::optional<double> median() const;
  [[nodiscard]] std::int64_t num_stretches() const { return stretches_; }

 private:
  std::vector<std::int64_t> counts_;  ///< histogram of the ratio's logarithm
  std::int64_t stretches_ = 0;
};

/// Whether a ratio of displacements to the distances that follow from the speeds is possible.
/// @param step_s time between two frames
/// @param largest bound of the ratio and of its inverse if step_s is at most kLongestComparedStepS
[[nodiscard]] bool is_possible_ratio(double ratio, double step_s, double largest);

/// Explains a ratio by a wrong unit, e.g. "the speeds may be km/h". Empty if no unit explains it.
[[nodiscard]] std::string likely_unit(double ratio);

}  // namespace traffic::data
